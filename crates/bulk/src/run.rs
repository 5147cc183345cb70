//! From inputs and outputs to files: one output, one per event, or one per input.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    thread,
    time::Instant,
};

use lydite_arrow::{Job, Transform};

use crate::{
    Error, Format, Options, Progress, Report,
    error::ErrorKind,
    guard::guard,
    input::{Input, Limits},
    lock,
    output::Encoding,
    paths::{InputFile, input_files, is_standard},
    pipeline::Run,
    resume,
    segments::Totals,
    temporary::RunLock,
};

pub(crate) fn run(
    inputs: &[PathBuf],
    output: &Path,
    job: Job,
    options: &Options,
    progress: &dyn Fn(Progress) -> ControlFlow<()>,
) -> Result<Report, Error> {
    let start = Instant::now();
    let files = input_files(inputs, Some(output))?;
    let first = open(&files[0])?;
    let transform = Transform::new(job, &first.schema, options.transform.clone());
    let transform = transform.map_err(|error| Error::at(&files[0].path)(error.into()))?;
    let transform = Arc::new(transform);
    let totals = Totals::new(&files);
    let available = thread::available_parallelism().map_or(1, |threads| threads.get());
    let run = Run {
        transform: &transform,
        limits: Limits::new(options.memory),
        threads: options.threads.map_or(available, |threads| threads.get()),
        totals: &totals,
        progress: &|| progress(totals.progress()),
    };
    let several = transform.outputs().len() > 1;
    if several && is_standard(output) {
        return Err(Error::at(output)(ErrorKind::SeveralOutputs));
    }
    let is_directory = !is_standard(output)
        && (output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/"));
    let mut report = if !several && is_directory {
        PerInput { run, options }.files(&files, output)?
    } else if options.resume {
        return Err(Error::at(output)(ErrorKind::NotPerInput));
    } else {
        run.files(files, first, &encodings(&transform, output, options)?)?
    };
    report.elapsed = start.elapsed();
    Ok(report)
}

fn open(file: &InputFile) -> Result<Input, Error> {
    guard(|| Input::open(&file.path)).map_err(Error::at(&file.path))
}

fn extension(options: &Options) -> &'static str {
    match options.format {
        Some(Format::Arrow) => "arrow",
        _ => "parquet",
    }
}

/// Returns the encoding of the output, or of the file of each event.
fn encodings(
    transform: &Transform,
    output: &Path,
    options: &Options,
) -> Result<Vec<Encoding>, Error> {
    let outputs = transform.outputs();
    // Some file systems do not distinguish upper and lower case.
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for output in outputs {
        *names.entry(output.name.to_lowercase()).or_default() += 1;
    }
    let (mut encodings, run) = (Vec::new(), RunLock::default());
    for of in outputs {
        let path = if outputs.len() == 1 {
            output.to_path_buf()
        } else {
            let suffix = match names[&of.name.to_lowercase()] {
                1 => "",
                _ => &of.suffix,
            };
            output.join(format!("{}{suffix}.{}", of.name, extension(options)))
        };
        let encoding = Encoding::new(path, of.schema.clone(), options, None)?;
        encodings.push(encoding.one_of(outputs.len(), &run));
    }
    Ok(encodings)
}

/// A run with one output per input, several at a time if there are as many as threads.
struct PerInput<'a> {
    run: Run<'a>,
    options: &'a Options,
}

enum Message {
    Progress,
    Done(usize, Box<Report>),
    Failed(usize, Error),
}

impl PerInput<'_> {
    fn files(self, files: &[InputFile], directory: &Path) -> Result<Report, Error> {
        let mut outputs = Vec::new();
        for file in files {
            if is_standard(&file.path) {
                return Err(Error::at(&file.path)(ErrorKind::NotPerInput));
            }
            outputs.push(directory.join(file.name.with_extension(extension(self.options))));
        }
        let mut distinct = BTreeSet::new();
        if let Some(output) = outputs.iter().find(|output| !distinct.insert(*output)) {
            return Err(Error::at(output)(ErrorKind::SameOutput));
        }
        if self.options.resume {
            for directory in outputs
                .iter()
                .filter_map(|output| output.parent())
                .collect::<BTreeSet<_>>()
            {
                resume::remove_temporary(directory).map_err(Error::at(directory))?;
            }
        }
        let (workers, threads) = match self.run.threads {
            threads if files.len() >= threads => (threads, 1),
            threads => (1, threads),
        };
        let cancelled = AtomicBool::new(false);
        let next = Mutex::new(files.iter().zip(&outputs).enumerate());
        let (sender, messages) = channel();
        let (transform, limits, totals) = (self.run.transform, self.run.limits, self.run.totals);
        let options = self.options;
        thread::scope(|scope| {
            for _ in 0..workers {
                let (sender, next, cancelled) = (sender.clone(), &next, &cancelled);
                scope.spawn(move || {
                    let progress = || {
                        // The receiver exists until the threads have ended.
                        let _ = sender.send(Message::Progress);
                        match cancelled.load(Ordering::Relaxed) {
                            true => ControlFlow::Break(()),
                            false => ControlFlow::Continue(()),
                        }
                    };
                    let run = Run {
                        transform,
                        limits,
                        threads,
                        totals,
                        progress: &progress,
                    };
                    while !cancelled.load(Ordering::Relaxed) {
                        let Some((index, (file, output))) = lock(next).next() else {
                            return;
                        };
                        let _ = sender.send(match one(run, file, output, options) {
                            Ok(report) => Message::Done(index, Box::new(report)),
                            Err(error) => Message::Failed(index, error),
                        });
                    }
                });
            }
            drop(sender);
            let (mut reports, mut errors) = (BTreeMap::new(), BTreeMap::new());
            for message in messages {
                match message {
                    Message::Progress if (self.run.progress)().is_continue() => {}
                    Message::Progress => {
                        cancelled.store(true, Ordering::Relaxed);
                    }
                    Message::Done(index, report) => {
                        reports.insert(index, report);
                    }
                    Message::Failed(index, error) => {
                        cancelled.store(true, Ordering::Relaxed);
                        // The cause comes before the files that were cancelled because of it.
                        let was_cancelled = matches!(error.kind, ErrorKind::Cancelled);
                        errors.insert((was_cancelled, index), error);
                    }
                }
            }
            if let Some((_, error)) = errors.pop_first() {
                return Err(error);
            }
            if cancelled.load(Ordering::Relaxed) {
                let kind = ErrorKind::Cancelled;
                return Err(Error { file: None, kind });
            }
            let mut report = Report::default();
            reports.into_values().for_each(|one| report.add(*one));
            Ok(report)
        })
    }
}

/// Makes the output of an input, unless an earlier run has made it.
fn one(run: Run<'_>, file: &InputFile, output: &Path, options: &Options) -> Result<Report, Error> {
    let job = resume::fingerprint(run.transform, options, file).map_err(Error::at(&file.path))?;
    if options.resume && output.exists() {
        let found = resume::read(output).map_err(Error::at(output))?;
        if found.as_ref() != Some(&job) {
            return Err(Error::at(output)(ErrorKind::OtherJob));
        }
        run.totals.skip(&file.path);
        return Ok(Report {
            skipped: 1,
            ..Report::default()
        });
    }
    let schema = run.transform.outputs()[0].schema.clone();
    let encoding = Encoding::new(output.into(), schema, options, Some(job))?;
    run.files(vec![file.clone()], open(file)?, &[encoding])
}
