import SystemPackage
import Zoetrope

/// Plays one file without drawing: the simplest user of the scheduler.
struct PlayRequest: Sendable {
  let input: InputFile
  let decoding: DecodingOptions
  var playback: PlaybackOptions
  let start: StartArgument?
  /// Ends playback after this time by the clock, if set.
  let wallTime: Duration?
  /// Where the trace goes; `-` is standard output.
  let trace: String?
  /// Whether the trace may replace a file.
  let isForced: Bool

  func run() -> ExitStatus {
    do throws(CommandFailure) {
      let image = try input.open(decoding)
      var options = playback
      options.startIndex = start?.index(in: image, policy: options.delayPolicy)
      let scheduler = FrameScheduler(image, options: options)
      return try SignalFlag.whileCaught { () throws(CommandFailure) in
        let ending = BlockingTask.run { [wallTime] in
          await Self.play(scheduler, for: wallTime)
        }
        return try report(ending, of: scheduler)
      }
    } catch {
      if error.status != .success { CommandRunner.report(error, asJSON: false) }
      return error.status
    }
  }

  /// Takes every frame; ends early on a signal or when the time is up.
  private static func play(
    _ scheduler: FrameScheduler, for wallTime: Duration?
  ) async -> PlaybackState {
    let watch = Task {
      let clock = ContinuousClock()
      let deadline = wallTime.map { clock.now + $0 }
      while !Task.isCancelled, SignalFlag.status == nil {
        // A signal may wait a moment: looking more often costs as much as the playing does.
        let next = clock.now + .milliseconds(100)
        try? await clock.sleep(until: min(next, deadline ?? next))
        if let deadline, clock.now >= deadline { break }
      }
      if !Task.isCancelled { scheduler.stop() }
    }
    for await _ in scheduler.frames().stream {}
    watch.cancel()
    return await scheduler.ending()
  }

  private func report(
    _ ending: PlaybackState, of scheduler: FrameScheduler
  ) throws(CommandFailure) -> ExitStatus {
    if let trace {
      let json = Array((scheduler.trace.json + "\n").utf8)
      if trace == "-" {
        try CommandRunner.print(json, stopsOnSignal: false)
      } else {
        do throws(WriteFailure) {
          try OutputFile.write(
            json, to: FilePath(bytes: RawArguments.bytes(of: trace)), isReplacing: isForced,
            followsLinks: true, stopsOnSignal: false)
        } catch {
          if let failure = error.commandFailure { throw failure }
        }
      }
    }
    if trace != "-" {
      try CommandRunner.print(
        Array("\(ending): \(scheduler.statistics)\n".utf8), stopsOnSignal: false)
    }
    if let error = ending.error {
      throw CommandFailure(error, file: input.name, damage: decoding.damage)
    }
    return SignalFlag.status ?? .success
  }
}
