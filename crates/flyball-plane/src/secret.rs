//! Files that only their owner may read. Not here: what they hold.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes `text` to `path`, readable by its owner alone, whole or not at all.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn nobody_else_may_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        write(&path, "secret").unwrap();
        write(&path, "other").unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "other");
    }
}
