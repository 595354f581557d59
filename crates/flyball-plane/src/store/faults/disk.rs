//! A disk in memory that fails at one chosen operation, and that forgets unsynced sectors when its power is lost.
//! Not here: what is written to it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use redb::StorageBackend;

use super::random::Random;
use crate::store::disk::Disk;

/// What a loss of power keeps or loses as a unit.
const SECTOR: usize = 512;

/// What goes wrong at the chosen operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It fails and does nothing.
    Error,
    /// A write lands in part and fails.
    Torn,
    /// Nothing can be written from here on until there is room again.
    Full,
    /// A sync fails; part of what it should have written is on the disk, and no later sync writes the rest.
    Unsynced,
    /// The same, and the process is killed before it knows: the next one reads what is not on the disk.
    Deceptive,
    /// The power is lost: any subset of unsynced sectors is on the disk.
    Power,
    /// The process is killed: all it has written is there, synced or not.
    Kill,
}

impl Fault {
    /// Every one.
    pub(super) const ALL: [Self; 7] = [
        Self::Error,
        Self::Torn,
        Self::Full,
        Self::Unsynced,
        Self::Deceptive,
        Self::Power,
        Self::Kill,
    ];

    /// Whether the process is gone with it.
    pub(super) fn ends_the_process(self) -> bool {
        matches!(self, Self::Deceptive | Self::Power | Self::Kill)
    }
}

/// What an operation does, as far as the faults differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Sync,
}

#[derive(Clone, Debug)]
enum Unsynced {
    Write(usize, Vec<u8>),
    SetLen(usize),
}

/// One file: what a reader sees, and what is there after a loss of power.
#[derive(Clone, Debug, Default)]
struct Content {
    seen: Vec<u8>,
    kept: Vec<u8>,
    unsynced: Vec<Unsynced>,
}

impl Content {
    fn change(&mut self, change: Unsynced) {
        apply(&mut self.seen, &change);
        self.unsynced.push(change);
    }

    fn sync(&mut self) {
        for change in std::mem::take(&mut self.unsynced) {
            apply(&mut self.kept, &change);
        }
    }

    /// Any subset of the unsynced sectors gets to the disk; the rest never will.
    fn sync_in_part(&mut self, random: &mut Random) {
        let share = random.below(101);
        for change in std::mem::take(&mut self.unsynced) {
            match change {
                Unsynced::SetLen(_) if random.below(100) < share => apply(&mut self.kept, &change),
                Unsynced::SetLen(_) => {}
                Unsynced::Write(start, data) => {
                    for (index, sector) in data.chunks(SECTOR).enumerate() {
                        if random.below(100) < share {
                            let sector = Unsynced::Write(start + index * SECTOR, sector.to_vec());
                            apply(&mut self.kept, &sector);
                        }
                    }
                }
            }
        }
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Unsynced) {
    match change {
        Unsynced::SetLen(len) => bytes.resize(*len, 0),
        Unsynced::Write(start, data) => {
            let end = start + data.len();
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[*start..end].copy_from_slice(data);
        }
    }
}

/// Which file has which name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Names {
    current: Option<usize>,
    draft: Option<usize>,
}

#[derive(Debug, Default)]
struct World {
    files: Vec<Content>,
    names: Names,
    names_kept: Names,
    operations: u64,
    armed: Option<(u64, Fault)>,
    fired: Option<Fault>,
    is_full: bool,
    /// Handles of an earlier life of the process do nothing.
    life: u64,
    is_dead: bool,
    random: Option<Random>,
}

impl World {
    fn random(&mut self) -> &mut Random {
        self.random.get_or_insert(Random(1))
    }

    /// Counts an operation and fails it when its time has come; `torn` does a part of it.
    fn step(&mut self, kind: Kind, torn: impl FnOnce(&mut Self)) -> io::Result<()> {
        if self.is_dead {
            return Err(io::Error::other("the process has ended"));
        }
        let index = self.operations;
        self.operations += 1;
        if self.armed.is_some_and(|(at, _)| at == index) {
            let (_, fault) = self.armed.take().expect("it was just seen");
            self.fired = Some(fault);
            match fault {
                Fault::Full => self.is_full = true,
                Fault::Torn | Fault::Unsynced => torn(self),
                Fault::Deceptive => {
                    torn(self);
                    self.is_dead = true;
                }
                Fault::Power | Fault::Kill => self.is_dead = true,
                Fault::Error => {}
            }
            if fault != Fault::Full {
                return Err(io::Error::other(format!("{fault:?} at operation {index}")));
            }
        }
        if self.is_full && kind == Kind::Write {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

/// The disk. All clones are the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultyDisk(Arc<Mutex<World>>);

impl FaultyDisk {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().expect("no holder of this lock panics")
    }

    /// Lets `fault` happen at the operation that is `after` more away.
    pub(super) fn arm(&self, after: u64, fault: Fault, seed: u64) {
        let mut world = self.world();
        world.armed = Some((world.operations + after, fault));
        world.random = Some(Random(seed));
    }

    /// No fault is to come any more.
    pub(super) fn disarm(&self) {
        self.world().armed = None;
    }

    /// The fault that has happened since the last call.
    pub(super) fn fired(&self) -> Option<Fault> {
        self.world().fired.take()
    }

    /// Makes room, and says whether there was none.
    pub(super) fn make_room(&self) -> bool {
        std::mem::take(&mut self.world().is_full)
    }

    /// Operations so far.
    pub(super) fn operations(&self) -> u64 {
        self.world().operations
    }

    /// The size of the log's file.
    pub(super) fn bytes(&self) -> usize {
        let world = self.world();
        world
            .names
            .current
            .map_or(0, |file| world.files[file].seen.len())
    }

    /// The process ends; with a loss of `power` what was not synced is there in part.
    pub(super) fn restart(&self, end: Fault) {
        let mut world = self.world();
        world.life += 1;
        world.is_dead = false;
        if end != Fault::Power {
            return;
        }
        let mut random = world.random().clone();
        if random.below(2) == 0 {
            world.names_kept = world.names;
        }
        world.names = world.names_kept;
        for file in &mut world.files {
            file.sync_in_part(&mut random);
            file.seen.clone_from(&file.kept);
        }
        world.random = Some(random);
    }

    fn file(&self, index: usize) -> FaultyFile {
        FaultyFile {
            life: self.world().life,
            disk: self.clone(),
            index,
        }
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut world = self.world();
        world.step(Kind::Sync, |world| {
            if world.random().below(2) == 0 {
                world.names_kept = world.names;
            }
        })?;
        world.names_kept = world.names;
        Ok(())
    }
}

impl Disk for FaultyDisk {
    type File = FaultyFile;

    fn current(&self) -> io::Result<Option<FaultyFile>> {
        let current = {
            let mut world = self.world();
            world.step(Kind::Read, |_| ())?;
            world.names.current
        };
        if current.is_some() {
            self.sync_names()?;
        }
        Ok(current.map(|index| self.file(index)))
    }

    fn draft(&self) -> io::Result<FaultyFile> {
        let index = {
            let mut world = self.world();
            world.step(Kind::Write, |_| ())?;
            if let Some(index) = world.names.draft {
                world.files[index].change(Unsynced::SetLen(0));
                index
            } else {
                world.files.push(Content::default());
                let index = world.files.len() - 1;
                world.names.draft = Some(index);
                index
            }
        };
        Ok(self.file(index))
    }

    fn replace(&self) -> io::Result<()> {
        {
            let mut world = self.world();
            world.step(Kind::Write, |_| ())?;
            world.names = Names {
                current: world.names.draft,
                draft: None,
            };
        }
        self.sync_names()
    }
}

/// An open file of the disk.
#[derive(Debug)]
pub(super) struct FaultyFile {
    disk: FaultyDisk,
    index: usize,
    life: u64,
}

impl FaultyFile {
    fn step(
        &self,
        kind: Kind,
        torn: impl FnOnce(&mut Content, &mut Random),
    ) -> io::Result<MutexGuard<'_, World>> {
        let mut world = self.disk.world();
        if world.life != self.life {
            return Err(io::Error::other("the process of this file has ended"));
        }
        let index = self.index;
        world.step(kind, |world| {
            let mut random = world.random().clone();
            torn(&mut world.files[index], &mut random);
            world.random = Some(random);
        })?;
        Ok(world)
    }
}

impl StorageBackend for FaultyFile {
    fn len(&self) -> io::Result<u64> {
        let world = self.step(Kind::Read, |_, _| ())?;
        Ok(world.files[self.index].seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let world = self.step(Kind::Read, |_, _| ())?;
        let start = offset as usize;
        let bytes = world.files[self.index].seen.get(start..start + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut world = self.step(Kind::Write, |_, _| ())?;
        world.files[self.index].change(Unsynced::SetLen(len as usize));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut world = self.step(Kind::Sync, Content::sync_in_part)?;
        world.files[self.index].sync();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let start = offset as usize;
        let mut world = self.step(Kind::Write, |content, random| {
            let part = random.below(data.len() as u64 + 1) as usize;
            content.change(Unsynced::Write(start, data[..part].to_vec()));
        })?;
        world.files[self.index].change(Unsynced::Write(start, data.to_vec()));
        Ok(())
    }
}
