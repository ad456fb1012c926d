import Glibc
import Zoetrope

/// Measures what playing costs and how exact it is.
///
///     playback-timing lateness [SECONDS] [busy]      beside clock_nanosleep, at 50 frames a second
///     playback-timing cancel [ROUNDS]                from ending to the last work done
///     playback-timing cost [SECONDS]                 processor time of playing over decoding
///     playback-timing memory [FRAMES] [PARALLELISM]  resident bytes while playing
///
/// With `busy`, one core is kept busy meanwhile.
@main struct PlaybackTiming {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let number = { (place: Int, other: Int) in
      arguments.indices.contains(place) ? Int(arguments[place]) ?? other : other
    }
    switch arguments.first {
    case "lateness":
      try await Lateness.measure(seconds: number(1, 60), isBusy: arguments.last == "busy")
    case "cancel": try await Cancelling.measure(rounds: number(1, 1000))
    case "cost": try await Cost.measure(seconds: number(1, 10))
    case "memory": try await Memory.measure(frames: number(1, 100_000), parallelism: number(2, 0))
    default:
      print("usage: playback-timing lateness|cancel|cost|memory [NUMBER...]")
      exit(64)
    }
  }
}
