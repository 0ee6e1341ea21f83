use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The command: the given one, that of the environment variable KAFKASTUB, the packaged one, or kafkastub on the PATH;
/// the first of them that there is.
///
/// # Errors
///
/// There is none, or the given one or that of KAFKASTUB is not a program.
pub fn command(given: Option<&str>) -> Result<PathBuf> {
    let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    find(given, variable("KAFKASTUB").as_deref(), packaged(), env::var_os("PATH").as_deref())
}

/// The packaged command of this platform, if the feature `binary` has it.
fn packaged() -> Option<&'static str> {
    #[cfg(all(feature = "binary", target_os = "linux", target_arch = "x86_64"))]
    return Some(kafkastub_linux_x86_64::COMMAND);
    #[cfg(not(all(feature = "binary", target_os = "linux", target_arch = "x86_64")))]
    return None;
}

fn find(given: Option<&str>, named: Option<&str>, packaged: Option<&str>, path: Option<&OsStr>) -> Result<PathBuf> {
    for (by, command) in [("the command", given), ("KAFKASTUB", named)] {
        let Some(command) = command else { continue };
        return program(command, path).ok_or_else(|| {
            Error::NotStarted(format!("{by}={command} is refused: there is no such program that can be run"))
        });
    }
    if let Some(found) = packaged.map(Path::new).filter(|packaged| is_program(packaged)) {
        return Ok(found.into());
    }
    program("kafkastub", path).ok_or_else(|| {
        let platform = format!("{}-{}", env::consts::OS, env::consts::ARCH);
        Error::NotStarted(if cfg!(feature = "binary") {
            format!(
                "there is no packaged kafkastub for {platform}: set the environment variable KAFKASTUB to the \
                 command, or put kafkastub on the PATH"
            )
        } else {
            "no kafkastub was found: set the environment variable KAFKASTUB to its command, enable the feature \
             `binary` of the crate kafkastub, or put kafkastub on the PATH"
                .into()
        })
    })
}

/// A program by its path, or by its name on the PATH.
fn program(command: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let is_name = Path::new(command).components().count() == 1 && !command.contains('/');
    let folders = if is_name { env::split_paths(path?).collect() } else { vec![PathBuf::new()] };
    folders
        .iter()
        .flat_map(|folder| ["", env::consts::EXE_SUFFIX].map(|end| folder.join(format!("{command}{end}"))))
        .find(|candidate| is_program(candidate))
        .and_then(|found| std::path::absolute(found).ok())
}

fn is_program(path: &Path) -> bool {
    let Ok(about) = fs::metadata(path) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        about.is_file() && about.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    about.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A folder with a program kafkastub, which is removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = env::temp_dir().join(format!("kafkastub-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            let program = path.join("kafkastub");
            fs::write(&program, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            Folder(path)
        }

        fn program(&self) -> String {
            self.0.join("kafkastub").to_str().unwrap().into()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_first_command_that_there_is_counts() {
        let [given, named, packaged, last] = ["given", "named", "packaged", "last"].map(Folder::new);
        let programs = [&given, &named, &packaged].map(Folder::program);
        let [given, named, packaged] = programs.each_ref().map(|one| Some(one.as_str()));
        let path = Some(last.0.as_os_str());
        assert_eq!(find(given, named, packaged, path).unwrap(), Path::new(given.unwrap()));
        assert_eq!(find(None, named, packaged, path).unwrap(), Path::new(named.unwrap()));
        assert_eq!(find(None, None, packaged, path).unwrap(), Path::new(packaged.unwrap()));
        assert_eq!(find(None, None, Some("/no/such"), path).unwrap(), last.0.join("kafkastub"));
        assert_eq!(find(None, Some("kafkastub"), None, path).unwrap(), last.0.join("kafkastub"));
    }

    #[test]
    fn what_cannot_be_found_is_told_in_a_sentence() {
        let nothing = Some(OsStr::new("/no/such"));
        let says = |found: Result<PathBuf>| found.unwrap_err().to_string();
        assert!(says(find(None, Some("/no/such"), None, nothing))
            .contains("KAFKASTUB=/no/such is refused: there is no such program that can be run"));
        let folder = Folder::new("not-executable");
        fs::set_permissions(folder.program(), fs::Permissions::from_mode(0o644)).unwrap();
        let said = says(find(Some(&folder.program()), None, None, nothing));
        assert!(said.contains(&format!("the command={} is refused", folder.program())), "{said}");
        assert!(says(find(None, None, None, nothing)).contains("set the environment variable KAFKASTUB"));
    }
}
