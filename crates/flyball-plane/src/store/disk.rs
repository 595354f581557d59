//! Where the log's file lies, and how one file takes the place of another. Not here: what the file holds (`log`).
//!
//! This is the one place where the store meets a disk, so that tests can give it a disk that fails.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use redb::StorageBackend;
use redb::backends::FileBackend;

use super::OpenError;
use super::folder;

/// A place for the log's file and one draft beside it.
pub(super) trait Disk: Debug + Send + 'static {
    /// An open file.
    type File: StorageBackend;

    /// Opens the log's file; `None` when there is none yet. Its name outlasts a loss of power when this returns, which that of a
    /// file just put in place did not have to.
    fn current(&self) -> io::Result<Option<Self::File>>;

    /// An empty draft. What an earlier draft held is gone.
    fn draft(&self) -> io::Result<Self::File>;

    /// Puts the draft in the place of the log's file; this outlasts a loss of power when it returns. After an error either
    /// file may be in that place.
    fn replace(&self) -> io::Result<()>;
}

/// A folder of this host, locked against other processes as long as this lives.
#[derive(Debug)]
pub(super) struct FolderDisk {
    folder: PathBuf,
    /// The lock. It is on the marker, because the log's file is not always the same one.
    _marker: File,
}

impl FolderDisk {
    /// Prepares and locks `folder`.
    pub(super) fn open(folder: &Path) -> Result<Self, OpenError> {
        let marker = folder::prepare(folder)?;
        marker.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => OpenError::InUse(folder.to_owned()),
            std::fs::TryLockError::Error(source) => OpenError::Folder {
                folder: folder.to_owned(),
                source,
            },
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            _marker: marker,
        })
    }

    fn current_path(&self) -> PathBuf {
        self.folder.join("store.redb")
    }

    fn draft_path(&self) -> PathBuf {
        self.folder.join("store.redb.draft")
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()
    }
}

impl Disk for FolderDisk {
    type File = FileBackend;

    fn current(&self) -> io::Result<Option<FileBackend>> {
        let path = self.current_path();
        match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => {
                self.sync_names()?;
                backend(file).map(Some)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn draft(&self) -> io::Result<FileBackend> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(self.draft_path())?;
        backend(file)
    }

    fn replace(&self) -> io::Result<()> {
        std::fs::rename(self.draft_path(), self.current_path())?;
        self.sync_names()
    }
}

fn backend(file: File) -> io::Result<FileBackend> {
    FileBackend::new(file).map_err(io::Error::other)
}
