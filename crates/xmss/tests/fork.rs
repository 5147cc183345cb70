//! Key files in real forked processes. One test, so that no other thread holds a lock while it forks.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{Read as _, Write as _, pipe};
use std::path::PathBuf;
use std::time::Duration;

use lydite_xmss::store::{KeyFile, Owner, StoreError};
use lydite_xmss::{LeanSigTest, SecretKey};

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A child process.
struct Child(libc::pid_t);

impl Child {
    /// Forks. The child exits with the code that `run` returns.
    fn fork(run: impl FnOnce() -> i32) -> Self {
        // SAFETY: the child calls `run` and exits without running destructors of this process's other threads. Its
        // allocator works, since glibc and macOS take the allocator's locks around a fork, and `run` takes no other lock.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            // SAFETY: always sound; it ends the process immediately.
            unsafe { libc::_exit(code.unwrap_or(99)) };
        }
        assert!(child > 0, "fork failed");
        Self(child)
    }

    fn code(self) -> i32 {
        let mut status = 0;
        // SAFETY: `status` is valid for the write, and the child is ours and not yet waited for.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        assert_eq!(waited, self.0);
        assert!(libc::WIFEXITED(status), "child killed: {status}");
        libc::WEXITSTATUS(status)
    }
}

/// Returns 0 if every use of the parent's key in a child fails with [`StoreError::Forked`], otherwise a code for the
/// first that does not.
fn is_useless(file: &mut KeyFile<LeanSigTest>, parent: u32) -> i32 {
    let signed = file.sign(5, &[2; 32]).map(drop);
    let further = file.sign(200, &[2; 32]).map(drop);
    let prepared = file.prepare(200);
    let started = file.prepare_ahead(Duration::from_micros(10));
    for (code, result) in (1..).zip([signed, further, prepared, started]) {
        match result {
            Err(StoreError::Forked { opened_by }) if opened_by == parent => {}
            _ => return code,
        }
    }
    0
}

#[test]
fn a_forked_child_cannot_sign() {
    let name = format!("lydite-xmss-fork-{}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir(&folder.0).unwrap();
    let path = folder.0.join("key");
    let key = SecretKey::<LeanSigTest>::from_seed(&[3; 32], 0..256, &()).unwrap();
    KeyFile::create(&path, &key).unwrap();
    let public_key = key.public_key().unwrap();
    let parent = std::process::id();

    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    file.prepare_ahead(Duration::from_secs(1000)).unwrap();
    let owner = Owner::current();
    owner.check().unwrap();
    // The child, its child, and dropping the file in the child, which does not have the thread.
    let mut ours = Some(file);
    let code = Child::fork(|| {
        let mut file = ours.take().unwrap();
        if owner.check().is_ok() {
            return 10;
        }
        if is_useless(&mut file, parent) != 0 {
            return 11;
        }
        let grandchild = Child::fork(|| is_useless(&mut file, parent)).code();
        if grandchild != 0 {
            return 20 + grandchild;
        }
        drop(file);
        match KeyFile::<LeanSigTest>::open(&path) {
            Err(StoreError::InUse(_)) => 0,
            _ => 12,
        }
    })
    .code();
    assert_eq!(code, 0);
    assert!(matches!(
        KeyFile::<LeanSigTest>::open(&path),
        Err(StoreError::InUse(_))
    ));
    let mut file = ours.unwrap();
    let signature = file.sign(5, &[1; 32]).unwrap();
    assert!(public_key.verify(5, &[1; 32], &signature));
    let message = StoreError::Forked { opened_by: 1 }.to_string();
    assert!(message.contains("opened by process 1") && message.contains("forked"));

    // A key that its parent closed can be opened again even though a child forked in the meantime is still running.
    let (mut wait, mut go) = pipe().unwrap();
    let child = Child::fork(|| {
        wait.read_exact(&mut [0]).unwrap();
        let open = match KeyFile::<LeanSigTest>::open(&path) {
            Err(StoreError::InUse(_)) => 0,
            _ => 1,
        };
        open + is_useless(&mut file, parent)
    });
    drop(file);
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    go.write_all(&[1]).unwrap();
    assert_eq!(child.code(), 0);
    file.sign(6, &[1; 32]).unwrap();
    drop(file);

    // A child that opens the key itself can sign, and writes to the same directory after changing the working
    // directory.
    let code = Child::fork(|| {
        std::env::set_current_dir(&folder.0).unwrap();
        let mut file = KeyFile::<LeanSigTest>::open("key".as_ref()).unwrap();
        std::env::set_current_dir("/").unwrap();
        let prepared = file.key().prepared();
        i32::from(file.sign(100, &[1; 32]).is_err() || file.key().prepared() == prepared)
    })
    .code();
    assert_eq!(code, 0);
    let mut file = KeyFile::<LeanSigTest>::open(&path).unwrap();
    assert!(matches!(
        file.sign(100, &[2; 32]),
        Err(StoreError::Spent { .. })
    ));
}
