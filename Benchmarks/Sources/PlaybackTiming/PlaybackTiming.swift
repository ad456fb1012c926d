import Glibc
import Zoetrope

/// Measures the cost and the accuracy of playback.
///
///     playback-timing lateness [SECONDS] [busy]      compared with clock_nanosleep, at 50 frames a second
///     playback-timing cancel [ROUNDS]                from ending playback to the end of its last work
///     playback-timing cost [SECONDS] [WORK] [FILE...]  processor time of playing, relative to decoding
///     playback-timing memory [FRAMES] [PARALLELISM]  resident bytes while playing
///     playback-timing changes [FRAMES] [WxH]         playing large canvases of which little changes
///     playback-timing pace WIDTH HEIGHT              the same at its own pace for 3 s: measure it with `time -v`
///     playback-timing first [COUNT] FILE...          from a file or its bytes to the first frame
///     playback-timing neighbours [SECONDS]           a 10 ms player next to demanding ones
///     playback-timing crowd [PLAYERS...]             many players at once
///
/// With `busy`, one core is kept busy meanwhile.
@main struct PlaybackTiming {
  /// The name of the animation that needs no file.
  private static let builtIn = "built-in"

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let number = { (place: Int, other: Int) in
      arguments.indices.contains(place) ? Int(arguments[place]) ?? other : other
    }
    switch arguments.first {
    case "lateness":
      try await Lateness.measure(seconds: number(1, 60), isBusy: arguments.last == "busy")
    case "cancel": try await Cancelling.measure(rounds: number(1, 1000))
    case "cost":
      let files = Array(arguments.dropFirst(2))
      if let work = files.first.flatMap(Cost.Work.init(rawValue:)) {
        try await Cost.measure(
          work, seconds: number(1, 10), file: files.dropFirst().first ?? builtIn)
      } else {
        try await Cost.measure(seconds: number(1, 10), files: files.isEmpty ? [builtIn] : files)
      }
    case "memory": try await Memory.measure(frames: number(1, 100_000), parallelism: number(2, 0))
    case "changes":
      try await Changes.measure(frames: number(1, 300), only: arguments.dropFirst(2).first)
    case "pace":
      try await Changes.playAtPace(PixelSize(width: number(1, 480), height: number(2, 360)))
    case "first":
      try await FirstFrames.measure(files: Array(arguments.dropFirst(2)), count: number(1, 1000))
    case "neighbours": try await Neighbours.measure(seconds: number(1, 10))
    case "crowd":
      let counts = arguments.dropFirst().compactMap { Int($0) }
      try await Crowd.measure(counts: counts.isEmpty ? [300, 1000, 1500] : counts)
    default:
      print(
        "usage: playback-timing lateness|cancel|cost|memory|changes|pace|first|neighbours|crowd [NUMBER...]"
      )
      exit(64)
    }
  }
}
