import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Makes tar archives (POSIX.1-2001) with the file names that WebDataset expects: `stem.0000.png`, `stem.0001.png`, …,
/// `stem.json`. The part of a name before the first dot is the key of a sample.
enum TarArchive {
  private static let blockSize = 512
  /// The maximum number of bytes of a name in a header.
  private static let nameLimit = 100

  /// The two empty blocks that end an archive.
  static let end = [UInt8](repeating: 0, count: 2 * blockSize)

  /// Returns the bytes of a file in an archive: a header, `bytes`, and zeros up to a whole block.
  static func file(_ name: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    var archive: [UInt8] = []
    if name.count > nameLimit {
      let record = record(Array("path=".utf8) + name)
      archive += header(Array("PaxHeader".utf8), byteCount: record.count, kind: "x")
      append(record, to: &archive)
    }
    archive += header(Array(name.prefix(nameLimit)), byteCount: bytes.count, kind: "0")
    append(bytes, to: &archive)
    return archive
  }

  private static func append(_ bytes: [UInt8], to archive: inout [UInt8]) {
    archive += bytes
    let excess = bytes.count % blockSize
    if excess > 0 { archive += [UInt8](repeating: 0, count: blockSize - excess) }
  }

  /// Returns a pax record, which consists of its own length in digits, a space, `text` and a line break.
  private static func record(_ text: [UInt8]) -> [UInt8] {
    var length = text.count + 2
    while String(length).utf8.count + text.count + 2 != length {
      length = String(length).utf8.count + text.count + 2
    }
    return Array("\(length) ".utf8) + text + [0x0a]
  }

  /// Returns a ustar header. The owner and the time are 0, so that equal frames make equal archives.
  private static func header(_ name: [UInt8], byteCount: Int, kind: Character) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: blockSize)
    func put(_ bytes: [UInt8], at start: Int) {
      for (place, byte) in bytes.enumerated() { header[start + place] = byte }
    }
    func octal(_ value: Int, digits: Int) -> [UInt8] {
      Array(String(value, radix: 8).paddedLeft(to: digits, with: "0").utf8)
    }
    put(name, at: 0)
    put(octal(0o644, digits: 7), at: 100)
    put(octal(0, digits: 7), at: 108)
    put(octal(0, digits: 7), at: 116)
    // Eleven octal digits can express 8 GiB, more than any picture has.
    put(octal(byteCount, digits: 11), at: 124)
    put(octal(0, digits: 11), at: 136)
    put(Array("        ".utf8), at: 148)
    put(Array(String(kind).utf8), at: 156)
    put(Array("ustar\u{0}00".utf8), at: 257)
    let sum = header.reduce(0) { $0 + Int($1) }
    put(octal(sum, digits: 6) + [0, UInt8(ascii: " ")], at: 148)
    return header
  }
}

extension TarArchive {
  /// Returns the keys of the samples that contain the frames of `inputs`. A key is the input's directory and stem. If
  /// several inputs share a stem, their keys include the extension. Dots become `_`, because a key ends at the first
  /// dot.
  ///
  /// - Throws: A usage failure if two inputs would have the same key.
  static func keys(of inputs: [InputFile]) throws(CommandFailure) -> [[UInt8]] {
    func keys(_ name: (InputFile) -> [UInt8]) -> [[UInt8]] {
      inputs.map { input in
        let name = name(input).map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "_") : $0 }
        let directory = input.directory
        return directory == [UInt8(ascii: ".")] ? name : directory + [UInt8(ascii: "/")] + name
      }
    }
    let stems = keys(\.stem)
    let counts = stems.reduce(into: [[UInt8]: Int]()) { $0[$1, default: 0] += 1 }
    let keys = zip(stems, keys(\.fullStem)).map { counts[$0, default: 0] > 1 ? $1 : $0 }
    var known: [[UInt8]: InputFile] = [:]
    for (key, input) in zip(keys, inputs) {
      guard let other = known.updateValue(input, forKey: key) else { continue }
      throw .usage("\(other.name) and \(input.name) would have the same names in the archive")
    }
    return keys
  }

  /// Returns the name of a frame's file in an archive. A nil `index` means the static image.
  static func name(_ key: [UInt8], _ index: Int?) -> [UInt8] {
    let number = index.map { String($0).paddedLeft(to: 4, with: "0") } ?? "static"
    return key + Array(".\(number).png".utf8)
  }
}
