//! The data directory: where it is unless told, and how it is wiped. What lies in it is the plane's.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flyball_plane::store::{OpenError, Storage, Store};
use thiserror::Error;

/// The file by which a plane recognises its folder.
const MARKER: &str = "flyball-plane.format";

/// What is wrong with a data directory, and what to do.
#[derive(Debug, Error)]
pub(crate) enum DataDirError {
    /// The environment names no home.
    #[error("there is no home directory to keep data in: name a place with --data-dir")]
    NoHome,
    /// It holds something that is not ours.
    #[error("{} is not a data directory of flyball, so --reset leaves it alone: name another one with --data-dir", .0.display())]
    Foreign(PathBuf),
    /// Another process uses it.
    #[error("{} is in use by another process: stop that one first", .0.display())]
    InUse(PathBuf),
    /// It cannot be wiped.
    #[error("{} cannot be wiped", folder.display())]
    Wipe {
        /// The directory.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The named directory, else `flyball` in the user's state directory: `$XDG_STATE_HOME`, else `~/.local/state`.
pub(crate) fn choose(named: Option<&Path>) -> Result<PathBuf, DataDirError> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Ok(state.ok_or(DataDirError::NoHome)?.join("flyball"))
}

/// Deletes everything in a directory that a plane has used and none is using. One that is missing or empty is left as it
/// is, and any other is refused.
pub(crate) fn wipe(folder: &Path) -> Result<(), DataDirError> {
    let failed = |source| DataDirError::Wipe {
        folder: folder.to_owned(),
        source,
    };
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    if !folder.join(MARKER).is_file() {
        return match entries.next() {
            None => Ok(()),
            Some(_) => Err(DataDirError::Foreign(folder.to_owned())),
        };
    }
    // Whatever else is wrong with the store, wiping it is the cure.
    if let Err(OpenError::InUse(folder)) = Store::open(&Storage::Folder(folder.to_owned()), 0) {
        return Err(DataDirError::InUse(folder));
    }
    // The marker goes last: what a kill leaves behind is still recognised as ours.
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_name() != MARKER {
            remove(&entry.path()).map_err(failed)?;
        }
    }
    fs::remove_file(folder.join(MARKER)).map_err(failed)
}

fn remove(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_ours_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        for name in [MARKER, "store.redb", "token"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        wipe(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        wipe(folder.path()).unwrap();
        wipe(&folder.path().join("missing")).unwrap();
    }

    #[test]
    fn a_foreign_directory_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("notes.txt");
        fs::write(&notes, "mine").unwrap();
        let refusal = wipe(folder.path()).unwrap_err();
        assert!(matches!(refusal, DataDirError::Foreign(_)));
        assert_eq!(fs::read_to_string(notes).unwrap(), "mine");
    }
}
