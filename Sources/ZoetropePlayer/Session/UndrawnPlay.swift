internal import SystemPackage
internal import Zoetrope
package import ZoetropeProcess
internal import ZoetropeTerminal

/// Plays one file without drawing it.
package struct UndrawnPlay {
  let input: InputFile
  let settings: PlayerSettings

  package init(_ input: InputFile, settings: PlayerSettings) {
    (self.input, self.settings) = (input, settings)
  }

  /// Plays until the animation ends, ``PlayerSettings/wallTime`` has passed, or a signal arrives. Writes the trace
  /// if one is requested, and prints statistics unless the trace goes to standard output.
  package func run() -> ExitStatus {
    do throws(CommandFailure) {
      let opened = try settings.open(input)
      var options = settings.playback
      options.startIndex = settings.start?.index(in: opened, policy: options.delayPolicy)
      let scheduler =
        switch opened {
        case .whole(let image): FrameScheduler(image, options: options, cache: settings.store)
        case .stream(let image): FrameScheduler(image, options: options)
        }
      return try Signals.whileCaught { () throws(CommandFailure) in
        let ending = BlockingTask.run { [wallTime = settings.wallTime] in
          await Self.play(scheduler, for: wallTime)
        }
        return try report(ending, of: scheduler, playing: opened)
      }
    } catch {
      error.report(asJSON: false)
      return error.status
    }
  }

  /// Takes all frames of the scheduler. Stops it early if a signal arrives or the time is up.
  private static func play(
    _ scheduler: FrameScheduler, for wallTime: Duration?
  ) async -> PlaybackState {
    let watch = Task {
      let clock = ContinuousClock()
      let deadline = wallTime.map { clock.now + $0 }
      while !Task.isCancelled, Signals.ending == nil {
        // Signals are polled only every 100 ms, because polling more often would cost as much as playback does.
        let next = clock.now + .milliseconds(100)
        try? await clock.sleep(until: min(next, deadline ?? next))
        if let deadline, clock.now >= deadline { break }
      }
      if !Task.isCancelled { scheduler.stop() }
    }
    for await _ in scheduler.play().stream {}
    watch.cancel()
    return await scheduler.waitUntilEnded()
  }

  private func report(
    _ ending: PlaybackState, of scheduler: FrameScheduler, playing opened: OpenedInput
  ) throws(CommandFailure) -> ExitStatus {
    // A signal ends the command, so no other file follows.
    if let trace = settings.trace, settings.writesTrace || Signals.ending != nil {
      try OutputFile.write(
        report: scheduler.trace.json + "\n", to: trace, isReplacing: settings.isForced)
    }
    if settings.trace != "-" {
      let statistics = scheduler.statistics
      let stalls = opened.stream == nil ? "" : " stalls=\(statistics.stalls)"
      try OutputStream.print(
        Array("\(ending): \(statistics)\(stalls)\n".utf8), stopsOnSignal: false)
    }
    let streamed = opened.stream?.progress
    if streamed?.ending == .truncated, let streamed {
      FileDescriptor.note(StreamWord.cut(streamed, input: input))
    }
    if let error = ending.error ?? streamed?.ending?.error {
      throw CommandFailure(error, file: input.name, damage: settings.decoding.damage)
    }
    return Signals.ending ?? .success
  }
}
