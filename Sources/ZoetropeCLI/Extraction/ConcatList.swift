import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// A list of the frames' files and their durations, in the form that ffmpeg's concat demuxer reads.
///
/// ffmpeg measures times in frames of the file's rate, which is 25 per second unless an option in the list overrides
/// it. Each file therefore gets a rate at which all times are whole numbers. ffmpeg ignores the duration of the last
/// entry, so the last file is listed twice, the second time for one picture of that rate.
struct ConcatList {
  private static let firstLine = "ffconcat version 1.0"

  /// The files with their start and end times, in microseconds, as ffmpeg reads times.
  private var entries: [(name: [UInt8], start: Int, end: Int)] = []
  private var now = Duration.zero
  private let rate: PictureRate
  private let directory: FilePath

  /// Creates a list for frames with `delays` under `policy`. The list will be written to a directory with the absolute
  /// path `directory`.
  ///
  /// The list's rate is the highest rate, up to 1000 per second, at which the delays are exact. If there is no such
  /// rate, it is 1000, and ffmpeg rounds the delays to milliseconds.
  init(delays: [FrameDelay], policy: DelayPolicy, in directory: FilePath) {
    self.directory = directory
    let exact = PictureRate.common(of: delays, policy: policy)?.rate
    rate =
      exact?.multipliedToMost ?? PictureRate(numerator: PictureRate.mostASecond, denominator: 1)
  }

  /// Adds `file`, which is in the list's directory and is shown for `duration`. Adding the last file again extends its
  /// duration.
  mutating func add(_ file: FilePath, for duration: Duration) {
    let name = file.lastComponent.map { FilePath(root: nil, [$0]).bytes } ?? []
    // The end times are rounded, not the durations, so that errors do not add up.
    let start = Decimal(now).thousandths
    now += duration
    let end = Decimal(now).thousandths
    if entries.last?.name == name {
      entries[entries.count - 1].end = end
    } else {
      entries.append((name, start, end))
    }
  }

  var bytes: [UInt8] {
    var bytes = Array("\(Self.firstLine)\n".utf8)
    func add(_ name: [UInt8]) {
      bytes += Array("file ".utf8) + Self.quoted(name) + [0x0a]
      // ffmpeg prepends the path of the list's directory, as it was given to ffmpeg, to the name.
      if Self.isSequence(directory.bytes + [UInt8(ascii: "/")] + name) {
        bytes += Array("option pattern_type none\n".utf8)
      }
      bytes += Array("option framerate \(rate.numerator)/\(rate.denominator)\n".utf8)
    }
    // A frame with zero duration is not shown, unless all frames have zero duration.
    let shown =
      entries.contains { $0.end > $0.start } ? entries.filter { $0.end > $0.start } : entries
    for entry in shown {
      add(entry.name)
      let microseconds = entry.end - entry.start
      let fraction = String(microseconds % 1_000_000).paddedLeft(to: 6, with: "0")
      bytes += Array("duration \(microseconds / 1_000_000).\(fraction)\n".utf8)
    }
    if let last = shown.last { add(last.name) }
    return bytes
  }

  /// Returns `name` in single quotes. Only single quotes need escaping.
  ///
  /// A name that could begin with a protocol, such as `a:b.png`, becomes a path that begins with `./`. Names that
  /// ffmpeg accepts without `-safe 0` are not changed, because without that option ffmpeg rejects paths that begin with
  /// a dot.
  private static func quoted(_ name: [UInt8]) -> [UInt8] {
    let quote = UInt8(ascii: "'")
    let path = isPlain(name) ? name : Array("./".utf8) + name
    return [quote] + path.flatMap { $0 == quote ? Array(#"'\''"#.utf8) : [$0] } + [quote]
  }

  /// Returns whether `name` consists of letters, digits, `_`, `-` and dots, and does not begin with a dot.
  private static func isPlain(_ name: [UInt8]) -> Bool {
    name.first != UInt8(ascii: ".")
      && name.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  /// Returns whether ffmpeg would read `name` as the pattern of an image sequence, because `name` contains `%d` or a
  /// variant with a width, such as `%04d`.
  static func isSequence(_ name: [UInt8]) -> Bool {
    name.indices.contains { start in
      guard name[start] == UInt8(ascii: "%") else { return false }
      let end = name[(start + 1)...].first {
        !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
      return end == UInt8(ascii: "d")
    }
  }

  /// Returns whether the file at `path` begins like a list of frames.
  static func isList(_ path: FilePath) -> Bool {
    OutputFile.isFile(path, beginningWith: Array(firstLine.utf8))
  }
}
