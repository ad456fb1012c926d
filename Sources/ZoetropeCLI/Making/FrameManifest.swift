import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The part of a manifest of `extract` that `make` uses: the files of the frames, their delays and the number of plays.
struct FrameManifest: Hashable {
  struct Frame: Hashable {
    var path: FilePath
    var delay: FrameDelay
  }

  var frames: [Frame]
  var playCount: PlayCount
  /// The file of a static image that is not a frame, or nil if there is none.
  var poster: FilePath?

  /// Parses the manifest in the file called `name`, whose contents are `bytes`.
  ///
  /// - Throws: A usage failure that says what is missing or wrong in the manifest.
  init(parsing bytes: [UInt8], name: String) throws(CommandFailure) {
    guard !bytes.starts(with: Array(ManifestLines.header.utf8)) else {
      throw .usage(
        "\(name) is a CSV manifest, which lacks the number of plays; extract with a manifest whose "
          + "name ends in .json")
    }
    let lines = bytes.split(separator: 0x0a).filter { line in line.contains { $0 > 0x20 } }
    guard lines.count == 1 else {
      throw .usage("\(name) describes \(lines.count) animations, but make can write only one")
    }
    let json: JSONValue
    do throws(JSONValue.Fault) {
      json = try JSONValue(parsing: lines[0])
    } catch {
      throw .usage("\(name) is not JSON: \(error.detail), byte \(error.byteOffset)")
    }
    guard json["schema"]?.text == AnimationReport.schema else {
      throw .usage(
        "\(name) is not a manifest of extract with the schema \(AnimationReport.schema)")
    }
    guard json["error"] == nil else {
      throw .usage(
        "\(name) is the manifest of an extraction that failed; extract --resume completes it")
    }
    guard json["raw"]?.truth != true else {
      throw .usage(
        "\(name) lists stored frames, which make cannot composite; extract without --raw"
      )
    }
    guard json["pictures"] == nil else {
      throw .usage(
        "\(name) lists pictures at a frame rate; pass their directory, as in make DIR --fps N, "
          + "or extract without --fps")
    }
    guard let plays = Self.playCount(json["loop"]) else {
      throw .usage("\(name) does not state the number of plays")
    }
    playCount = plays
    poster = json["default_image"].flatMap(Self.path)
    frames = []
    var paths: [Int: FilePath] = [:]
    for (place, item) in (json["frames"]?.elements ?? []).enumerated() {
      guard let index = item["index"]?.integer, let delay = Self.delay(item["delay"]) else {
        throw .usage("frame \(place) in \(name) has no index or no delay")
      }
      paths[index] = Self.path(of: item) ?? paths[index]
      // If a frame was left out because its picture is a duplicate, an earlier frame's file contains the picture.
      guard let path = paths[item["same_as"]?.integer ?? index] else {
        throw .usage(
          "frame \(index) in \(name) has no file; extract -o DIR --manifest FILE writes the files")
      }
      frames.append(Frame(path: path, delay: delay))
    }
    guard !frames.isEmpty else { throw .usage("\(name) lists no frames") }
  }

  private static func playCount(_ loop: JSONValue?) -> PlayCount? {
    if loop?["forever"]?.truth == true { return .indefinite }
    guard let plays = loop?["plays"]?.integer, (1...0x7fff_ffff).contains(plays) else { return nil }
    return .finite(plays)
  }

  private static func delay(_ value: JSONValue?) -> FrameDelay? {
    guard let numerator = value?["num"]?.integer.flatMap({ UInt32(exactly: $0) }),
      let denominator = value?["den"]?.integer.flatMap({ UInt32(exactly: $0) })
    else { return nil }
    return FrameDelay(numerator: numerator, denominator: denominator)
  }

  /// Returns the path of the output that an entry names, or nil if it names none or names standard output.
  private static func path(of entry: JSONValue) -> FilePath? {
    guard let text = entry["output"]?.text, text != "-" else { return nil }
    let bytes = entry["output_base64"]?.text.flatMap { Base64Text.bytes(of: $0) }
    return FilePath(bytes: bytes ?? Array(text.utf8))
  }
}

/// Decodes base64 in JSON strings.
enum Base64Text {
  /// Returns the decoded bytes, or nil if `text` is not base64 with padding (RFC 4648).
  static func bytes(of text: String) -> [UInt8]? {
    let letters = text.utf8
    guard letters.count.isMultiple(of: 4) else { return nil }
    let padding = letters.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
    var bytes: [UInt8] = []
    var word: UInt32 = 0
    for (place, letter) in letters.enumerated() {
      guard let value = place < letters.count - padding ? value(of: letter) : 0 else { return nil }
      word = word << 6 | value
      guard place % 4 == 3 else { continue }
      bytes += [
        UInt8(truncatingIfNeeded: word >> 16), UInt8(truncatingIfNeeded: word >> 8),
        UInt8(truncatingIfNeeded: word),
      ]
      word = 0
    }
    return Array(bytes.dropLast(padding))
  }

  private static func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
