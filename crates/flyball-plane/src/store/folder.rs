//! The storage folder: its format marker, and what lies where. Not here: what the files hold.

use std::fs;
use std::io;
use std::path::Path;

use super::OpenError;

/// The marker's file name.
const MARKER: &str = "flyball-plane.format";
/// The format this version reads and writes; a change of the log's layout takes the next number.
const FORMAT: &str = "1";

/// Makes the folder if it is missing, checks or writes its marker, and returns it open.
///
/// # Errors
/// [`OpenError::Foreign`] when the folder holds files but no marker, [`OpenError::Format`] when the marker names
/// another format.
pub(super) fn prepare(folder: &Path) -> Result<fs::File, OpenError> {
    let marker = folder.join(MARKER);
    let unusable = |source| OpenError::Folder {
        folder: folder.to_owned(),
        source,
    };
    match fs::read_to_string(&marker) {
        Ok(found) if found.trim() == FORMAT => {}
        Ok(found) => {
            return Err(OpenError::Format {
                folder: folder.to_owned(),
                found: found.trim().to_owned(),
                expected: FORMAT,
            });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(folder, &marker).map_err(unusable)??;
        }
        Err(source) => return Err(unusable(source)),
    }
    fs::File::open(marker).map_err(unusable)
}

fn make(folder: &Path, marker: &Path) -> io::Result<Result<(), OpenError>> {
    fs::create_dir_all(folder)?;
    if let Some(stranger) = fs::read_dir(folder)?.next() {
        let found = stranger?.file_name().to_string_lossy().into_owned();
        return Ok(Err(OpenError::Foreign {
            folder: folder.to_owned(),
            found,
        }));
    }
    // The marker appears whole or not at all: a kill between the two calls leaves no half-written name behind,
    // and an empty folder is simply prepared again.
    fs::write(marker, format!("{FORMAT}\n"))?;
    fs::File::open(marker)?.sync_all()?;
    fs::File::open(folder)?.sync_all()?;
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_folder_is_marked_and_accepted_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("data");
        prepare(&folder).unwrap();
        prepare(&folder).unwrap();
    }

    #[test]
    fn a_foreign_folder_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("notes.txt"), "mine").unwrap();
        let error = prepare(dir.path()).unwrap_err();
        assert!(matches!(&error, OpenError::Foreign { found, .. } if found == "notes.txt"));
        assert!(
            error.to_string().contains("choose an empty folder"),
            "{error}"
        );
    }

    #[test]
    fn another_format_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(MARKER), "2\n").unwrap();
        assert!(
            matches!(prepare(dir.path()).unwrap_err(), OpenError::Format { found, .. } if found == "2")
        );
    }
}
