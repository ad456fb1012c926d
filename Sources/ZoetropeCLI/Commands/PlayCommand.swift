import ArgumentParser
import Zoetrope

/// `zoetrope play`.
struct PlayCommand: ZoetropeSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Play a file on time.",
    discussion: """
      With --protocol none nothing is drawn: the frames are decoded, scheduled and taken, and what \
      came of it is printed, or written with --trace. Delays are shown as browsers show them unless \
      --timing says otherwise.
      """)

  @Argument(help: "A GIF or PNG file; - reads standard input.")
  var file: String

  @Option(name: .customLong("protocol"), help: "How frames are drawn: none draws nothing.")
  var output = DrawingChoice.none

  @Option(help: "Plays in all: a number, file (as the file says) or inf.")
  var loops = LoopsArgument.file

  @Option(help: "The first frame, or a time such as 1.5s.")
  var start: StartArgument?

  @Option(help: "How fast time runs; 2 is twice as fast.")
  var speed = 1.0

  @Option(help: "What happens to late frames: skip, stretch, latest or catchup[=RATE].")
  var late = LateArgument(policy: .skip)

  @Option(help: "Show every frame for this many milliseconds.")
  var delay: UInt32?

  @Option(
    help: ArgumentHelp(
      "How short delays are shown: browser, exact, ffmpeg, imageio, gtk, or MIN:REPL in ms.",
      valueName: "policy"))
  var timing = TimingArgument(policy: .browser)

  @Flag(help: "Play backwards.")
  var reverse = false

  @Flag(help: "Turn round at the end of each play.")
  var bounce = false

  @Option(help: "Stop after this many seconds by the clock on the wall.")
  var duration: Double?

  @Option(help: "Write a JSON trace of every frame's times; - is standard output.")
  var trace: String?

  @OptionGroup var decoding: DecodingArguments

  func validate() throws {
    guard speed.isFinite, speed > 0 else { throw ValidationError("--speed is above 0.") }
    if let duration, !(duration >= 0) { throw ValidationError("--duration is not negative.") }
  }

  func execute() -> ExitStatus {
    var options = PlaybackOptions()
    options.playCount = loops.playCount
    options.fixedDelay = delay.map { .milliseconds(Int($0)) }
    options.delayPolicy = timing.policy
    options.rate = speed
    options.direction = reverse ? .backward : .forward
    options.bounces = bounce
    options.latePolicy = late.policy
    options.recordsTrace = trace != nil
    return PlayRequest(
      input: InputFile(file), decoding: decoding.options, playback: options, start: start,
      wallTime: duration.map { .seconds($0) }, trace: trace
    ).run()
  }
}
