//! Limits and measures the resources that a contender uses.
//!
//! A contender runs in its own session with limits on file size, processes and core dumps. Its members are all
//! processes of that session, all their descendants, and orphans that left their session: the driver is their subreaper
//! (Linux). CPU time is the sum over all members, including dead ones, in nanoseconds from the processes' CPU clocks;
//! children that their parent has waited for are counted in ticks of 10 ms. All members are killed together.
//!
//! On systems other than Linux nothing is limited or measured.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Resources that all members of a contender have used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Nanoseconds of CPU time.
    pub cpu: u64,
    /// Nanoseconds that their threads waited for a processor.
    pub waited: u64,
}

/// Total time in nanoseconds that the threads of a process have waited for a processor, from /proc.
pub fn queue_wait(pid: u32) -> Option<u64> {
    let mut total = 0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        // A thread may end during the loop.
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).unwrap_or_default();
        total += text
            .split(' ')
            .nth(1)
            .and_then(|n| n.parse::<u64>().ok())
            .unwrap_or(0);
    }
    Some(total)
}

/// A folder that only this user can access, removed with its contents on drop.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder in `parent`.
    pub fn new(parent: &Path) -> std::io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("contender-{}-{count}", std::process::id()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        Ok(Self(path))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub use platform::{Group, confine};

#[cfg(target_os = "linux")]
mod platform {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;
    use std::sync::{Mutex, Once, PoisonError};
    use std::time::Duration;

    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    use nix::sys::signal::{Signal, kill, killpg};
    use nix::sys::wait::{WaitPidFlag, waitpid};
    use nix::time::{clock_getcpuclockid, clock_gettime};
    use nix::unistd::Pid;

    use super::Usage;

    /// Maximum file size in bytes. Contenders write outputs and, in rows of keys, files of a few megabytes.
    const FILE: u64 = 1 << 30;
    /// Maximum CPU time of a process in seconds.
    const CPU: u64 = 4 * 3600;
    /// Number of threads allowed in addition to those already running (the limit counts all threads of a user).
    const THREADS: u64 = 4096;
    /// Maximum number of members of one contender.
    const MEMBERS: usize = 64;
    /// `/proc` counts the time of waited-for children in units of 1/100 s on every architecture; this is one in
    /// nanoseconds.
    const TICK: u64 = 10_000_000;
    /// Page size in bytes for `/proc/PID/statm`; with larger pages the memory limit is stricter.
    const PAGE: u64 = 4096;

    /// First processes of the running contenders.
    static LEADERS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

    fn leaders() -> std::sync::MutexGuard<'static, BTreeSet<i32>> {
        LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a command in its own session with resource limits.
    pub fn confine(command: &mut Command) {
        static SUBREAPER: Once = Once::new();
        // Without a subreaper, orphans are only found as long as they stay in their session.
        SUBREAPER.call_once(|| {
            let _ = nix::sys::prctl::set_child_subreaper(true);
        });
        let threads = running().unwrap_or(THREADS) + THREADS;
        let wanted = [
            (Resource::RLIMIT_FSIZE, FILE),
            (Resource::RLIMIT_CPU, CPU),
            (Resource::RLIMIT_NPROC, threads),
            (Resource::RLIMIT_CORE, 0),
        ];
        let limits = wanted.map(|(resource, limit)| {
            let (_, hard) = getrlimit(resource).unwrap_or((limit, limit));
            (resource, limit.min(hard))
        });
        let enter = move || {
            nix::unistd::setsid()?;
            for (resource, limit) in limits {
                setrlimit(resource, limit, limit)?;
            }
            Ok(())
        };
        // SAFETY: between fork and exec, `enter` only makes async-signal-safe system calls, on values that were copied
        // into it. It neither allocates nor takes a lock.
        unsafe { command.pre_exec(enter) };
    }

    /// Number of threads on the machine; `/proc/loadavg` is `1.0 0.9 0.8 running/all last-pid`.
    fn running() -> Option<u64> {
        let text = fs::read_to_string("/proc/loadavg").ok()?;
        text.split(' ').nth(3)?.split_once('/')?.1.parse().ok()
    }

    /// The id of the most recently created process or thread.
    fn newest() -> Option<u64> {
        let text = fs::read_to_string("/proc/loadavg").ok()?;
        text.trim_end().rsplit(' ').next()?.parse().ok()
    }

    /// Fields of `/proc/PID/stat`.
    struct Stat {
        pid: i32,
        zombie: bool,
        parent: i32,
        session: i32,
        /// CPU time of its waited-for children, in ticks.
        children: u64,
    }

    fn stat(pid: i32) -> Option<Stat> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may contain any character.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
        Some(Stat {
            pid,
            zombie: matches!(fields.first(), Some(&"Z" | &"X")),
            parent: number(1)? as i32,
            session: number(3)? as i32,
            children: (number(13)? + number(14)?) as u64,
        })
    }

    fn all() -> Vec<Stat> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let names = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        let pids = names.filter_map(|name| name.parse().ok());
        pids.filter_map(stat).collect()
    }

    /// All processes of a contender.
    pub struct Group {
        leader: i32,
        /// Members at the last scan.
        members: BTreeSet<i32>,
        scanned: Option<u64>,
        /// CPU time in nanoseconds of orphans that the driver has waited for.
        gone: u64,
        memory: u64,
    }

    impl Group {
        /// The group of a process that was started with a [confined](confine) command.
        pub fn new(leader: u32) -> Self {
            let leader = leader as i32;
            leaders().insert(leader);
            let memory =
                crate::fingerprint::memory().map_or(u64::MAX, |all| (all / 2).max(1 << 30));
            Self {
                leader,
                members: [leader].into(),
                scanned: None,
                gone: 0,
                memory,
            }
        }

        /// Finds the members again if any process was created since the last scan.
        fn scan(&mut self) {
            let newest = newest();
            if newest.is_some() && newest == self.scanned {
                return;
            }
            self.scanned = newest;
            let (leaders, driver) = (leaders(), std::process::id() as i32);
            let own = stat(driver).map_or(0, |stat| stat.session);
            let all = all();
            let mut members: BTreeSet<i32> = [self.leader].into();
            loop {
                let before = members.len();
                for process in &all {
                    // An orphan in a session that belongs to no contender is charged to whoever runs a batch.
                    let stray = process.parent == driver
                        && process.session != own
                        && !leaders.contains(&process.session);
                    let related =
                        process.session == self.leader || members.contains(&process.parent);
                    if (related || stray)
                        && (process.pid == self.leader || !leaders.contains(&process.pid))
                    {
                        members.insert(process.pid);
                    }
                }
                if members.len() == before {
                    break;
                }
            }
            self.members = members;
        }

        /// Total resources that all members have used so far.
        pub fn usage(&mut self) -> Option<Usage> {
            self.scan();
            let mut usage = Usage::default();
            let mut dead = Vec::new();
            for &pid in &self.members {
                let Some(stat) = stat(pid) else { continue };
                let cpu = clock(pid).unwrap_or(0);
                usage.cpu += cpu + stat.children * TICK;
                usage.waited += waited(pid);
                if stat.zombie && stat.parent == std::process::id() as i32 && pid != self.leader {
                    dead.push((pid, cpu + stat.children * TICK));
                }
            }
            usage.cpu += self.gone;
            for (pid, cpu) in dead {
                let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
                self.members.remove(&pid);
                self.gone += cpu;
            }
            // A process without a CPU clock has ended or is hidden from us.
            clock(self.leader).map(|_| usage)
        }

        /// The reason why the contender must be stopped: too much memory or too many processes.
        pub fn excess(&mut self) -> Option<String> {
            self.scan();
            if self.members.len() > MEMBERS {
                return Some(format!(
                    "runs {} processes, at most {MEMBERS} are allowed",
                    self.members.len()
                ));
            }
            let resident = |pid: &i32| {
                let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
                Some(text.split(' ').nth(1)?.parse::<u64>().ok()? * PAGE)
            };
            let memory: u64 = self.members.iter().filter_map(resident).sum();
            (memory > self.memory).then(|| {
                format!(
                    "holds {} MiB of memory, at most {} are allowed",
                    memory >> 20,
                    self.memory >> 20
                )
            })
        }

        /// Stops all members, so that a contender does nothing between requests.
        pub fn pause(&mut self) {
            self.signal(Signal::SIGSTOP);
        }

        /// Resumes all members.
        pub fn resume(&mut self) {
            self.signal(Signal::SIGCONT);
        }

        fn signal(&mut self, signal: Signal) {
            self.scan();
            for &pid in &self.members {
                let _ = kill(Pid::from_raw(pid), signal);
            }
        }

        /// Number of processes other than the first.
        pub fn others(&mut self) -> usize {
            self.scan();
            self.members.len() - 1
        }

        /// Kills all members; the first one is left for its parent to wait for.
        pub fn kill(&mut self) {
            // A member may fork meanwhile, so this repeats until none is left, at most 200 times.
            for _ in 0..200 {
                // The process group id is certain to be this group's only while the leader exists, dead or alive.
                if stat(self.leader).is_some_and(|stat| stat.session == self.leader) {
                    let _ = killpg(Pid::from_raw(self.leader), Signal::SIGKILL);
                }
                self.scanned = None;
                self.scan();
                let mut alive = false;
                for &pid in &self.members {
                    let Some(stat) = stat(pid) else { continue };
                    if !stat.zombie {
                        alive = true;
                        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
                    } else if pid != self.leader {
                        let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
                    }
                }
                if !alive {
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            leaders().remove(&self.leader);
        }
    }

    /// CPU time of a process and all its threads, including ended ones, in nanoseconds.
    fn clock(pid: i32) -> Option<u64> {
        let id = clock_getcpuclockid(Pid::from_raw(pid)).ok()?;
        let time = Duration::from(clock_gettime(id).ok()?);
        u64::try_from(time.as_nanos()).ok()
    }

    fn waited(pid: i32) -> u64 {
        super::queue_wait(pid as u32).unwrap_or(0)
    }

    #[cfg(test)]
    mod tests {
        #![allow(clippy::unwrap_used)]
        use super::*;
        use std::process::Stdio;
        use std::time::Instant;

        fn shell(script: &str) -> (std::process::Child, Group) {
            let mut command = Command::new("sh");
            command
                .args(["-c", script])
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            confine(&mut command);
            let child = command.spawn().unwrap();
            let group = Group::new(child.id());
            (child, group)
        }

        fn until(mut done: impl FnMut() -> bool) -> bool {
            let start = Instant::now();
            while !done() {
                if start.elapsed() > Duration::from_secs(20) {
                    return false;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            true
        }

        #[test]
        fn descendants_are_counted_and_killed() {
            // One child in the session, and one that left it and whose parent has ended.
            let burn = "while :; do :; done";
            let script = format!("sh -c '{burn}' & (setsid sh -c '{burn}' &) ; sleep 60");
            let (mut child, mut group) = shell(&script);
            assert!(until(|| group.others() >= 3), "{}", group.others());
            let used = group.usage().unwrap().cpu;
            assert!(until(|| group.usage().unwrap().cpu > used + 50_000_000));
            let members = group.members.clone();
            group.kill();
            child.wait().unwrap();
            for pid in members {
                assert!(
                    until(|| stat(pid).is_none_or(|stat| stat.zombie)),
                    "{pid} is alive"
                );
            }
        }

        #[test]
        fn files_have_a_limit() {
            let folder = super::super::Folder::new(&std::env::temp_dir()).unwrap();
            let file = folder.path().join("large");
            let seek = FILE - 5;
            let script = format!(
                "printf 0123456789 | dd of={} bs=1 seek={seek}",
                file.display()
            );
            let (mut child, _group) = shell(&script);
            assert!(!child.wait().unwrap().success());
            assert!(fs::metadata(&file).is_ok_and(|data| data.len() == FILE));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use std::process::Command;

    use super::Usage;

    /// Has no effect on this system.
    pub fn confine(_: &mut Command) {}

    /// A contender's processes.
    pub struct Group;

    impl Group {
        /// A group whose members are not tracked.
        pub fn new(_: u32) -> Self {
            Self
        }

        /// Not measured on this system.
        pub fn usage(&mut self) -> Option<Usage> {
            None
        }

        /// Not measured on this system.
        pub fn excess(&mut self) -> Option<String> {
            None
        }

        /// Not supported on this system.
        pub fn pause(&mut self) {}

        /// Not supported on this system.
        pub fn resume(&mut self) {}

        /// Not measured on this system.
        pub fn others(&mut self) -> usize {
            0
        }

        /// On this system only the first process is killed, by its parent.
        pub fn kill(&mut self) {}
    }
}
