/// How many frames Chromium decodes of a file that was cut: its rules, as they were measured on cut files
/// and read in its source, in a walk of its own over blocks and chunks that shares nothing with the
/// scanners.
///
/// A GIF frame counts when its sub-blocks and their terminator are there, an APNG frame when all its data
/// chunks and the head of the chunk after them are (Chromium gives the last frame up when IEND is
/// missing), a still PNG when all of IDAT is. A picture whose data chunks another chunk parts is given up,
/// and so are the frames after it.
struct BrowserRule {
  /// For each frame of the whole file, in order, the length from which on a cut file still has it.
  private(set) var lengths: [Int] = []
  private let bytes: [UInt8]

  init(of bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.first == 0x89 { walkPNG() } else { walkGIF() }
  }

  /// Frames that are complete in the first `length` bytes.
  func completeFrames(in length: Int) -> Int { lengths.prefix { $0 <= length }.count }

  private mutating func walkGIF() {
    guard bytes.count >= 13 else { return }
    var position = 13 + Self.paletteSize(bytes[10])
    while position < bytes.count {
      let isImage = bytes[position] == 0x2c
      if isImage {
        guard position + 9 < bytes.count else { return }
        // Descriptor, palette and code size.
        position += 10 + Self.paletteSize(bytes[position + 9]) + 1
      } else if bytes[position] == 0x21 {
        position += 2
      } else {
        return
      }
      while position < bytes.count, bytes[position] != 0 { position += Int(bytes[position]) + 1 }
      guard position < bytes.count else { return }
      position += 1
      if isImage { lengths.append(position) }
    }
  }

  private static func paletteSize(_ flags: UInt8) -> Int {
    flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
  }

  private mutating func walkPNG() {
    var position = 8
    var isAnimated = false
    var hasControl = false
    var hasData = false
    // Whether data now would be more of a picture whose data seemed to be over.
    var isParted = false
    while position + 8 <= bytes.count {
      let name = String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)
      let isData = name == "fdAT" || name == "IDAT"
      // The head of another chunk ends the data of the frame before it.
      if hasData, !isData {
        if hasControl || !isAnimated { lengths.append(position + 8) }
        (hasData, hasControl, isParted) = (false, false, true)
      } else if isParted, isData {
        if !lengths.isEmpty { lengths.removeLast() }
        return
      }
      let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      guard position + 12 + length <= bytes.count else { return }
      switch name {
      case "acTL": isAnimated = true
      case "fcTL": (hasControl, isParted) = (true, false)
      case "IEND": return
      default: hasData = hasData || isData
      }
      position += 12 + length
    }
  }
}
