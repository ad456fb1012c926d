/// Small GIFs whose frames are each one colour; their codes are written without compression.
struct SampleGIF {
  var width = 6
  var height = 4
  /// The palette index that fills each frame, with its delay in hundredths of a second.
  var frames: [(color: UInt8, delay: UInt8)] = [(0, 4), (1, 10), (2, 0)]
  /// Whether the colours change from one pixel to the next.
  var isMixed = false
  /// The value of the loop block; nil for none.
  var loop: UInt8? = 0
  /// Bytes behind the end code of each frame, which fills its last byte.
  var behindEnd: [UInt8] = []

  var bytes: [UInt8] {
    var bytes = Array("GIF89a".utf8)
    bytes += [UInt8(width), 0, UInt8(height), 0, 0x81, 0, 0]
    bytes += [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9]
    if let loop {
      bytes += [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, loop, 0, 0]
    }
    // Made once for all frames of a colour: this is slow in a debug build.
    var data: [UInt8: [UInt8]] = [:]
    for frame in frames {
      bytes += [0x21, 0xf9, 4, 4, frame.delay, 0, 0, 0]
      bytes += [0x2c, 0, 0, 0, 0, UInt8(width), 0, UInt8(height), 0, 0]
      let codes = data[frame.color] ?? imageData(frame.color)
      data[frame.color] = codes
      bytes += codes
    }
    return bytes + [0x3b]
  }

  /// The minimum code size, and the blocks of codes.
  private func imageData(_ color: UInt8) -> [UInt8] {
    // Seven-bit roots: with a clear code before it fills, every code is one whole byte.
    var codes: [UInt8] = []
    for pixel in 0..<width * height {
      if pixel % 64 == 0 { codes.append(0x80) }
      let mixed = (UInt8(pixel * 7 % 11) ^ UInt8(pixel / width % 5) &+ color) & 3
      codes.append(isMixed ? mixed : color)
    }
    codes.append(0x81)
    codes += behindEnd
    var bytes: [UInt8] = [7]
    for start in stride(from: 0, to: codes.count, by: 255) {
      let end = min(start + 255, codes.count)
      bytes.append(UInt8(end - start))
      bytes += codes[start..<end]
    }
    return bytes + [0]
  }

  /// The pixels of frame `index` as `--format rgba` writes them.
  func pixels(_ index: Int) -> [UInt8] {
    let color = Int(frames[index].color)
    let pixel: [UInt8] = [color == 0 ? 255 : 0, color == 1 ? 255 : 0, color == 2 ? 255 : 0, 255]
    return (0..<width * height).flatMap { _ in pixel }
  }
}
