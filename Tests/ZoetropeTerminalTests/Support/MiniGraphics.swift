import CDeflate
import Zoetrope

@testable import ZoetropeTerminal

/// Undoes what the graphics encoders do, by the protocols' own descriptions.
enum MiniGraphics {
  static func inflate(_ bytes: [UInt8], count: Int) -> [UInt8]? {
    guard let handle = unsafe libdeflate_alloc_decompressor() else { return nil }
    defer { unsafe libdeflate_free_decompressor(handle) }
    var isGood = false
    let result = unsafe [UInt8](unsafeUninitializedCapacity: count) { output, written in
      unsafe bytes.withUnsafeBytes { input in
        unsafe isGood =
          libdeflate_zlib_decompress(
            handle, input.baseAddress, input.count, output.baseAddress, count, &written)
          == LIBDEFLATE_SUCCESS
      }
    }
    return isGood ? result : nil
  }

  static func base64(_ text: ArraySlice<UInt8>) -> [UInt8] {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var values = [UInt8: UInt32]()
    for (value, letter) in letters.enumerated() { values[letter] = UInt32(value) }
    var bytes: [UInt8] = []
    var word: UInt32 = 0
    var bits = 0
    for letter in text {
      guard let value = values[letter] else { continue }
      word = word << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
      }
    }
    return bytes
  }

  /// What kitty would show: images by id, and those that are placed.
  struct Kitty {
    struct Image: Equatable {
      var width = 0
      var height = 0
      var pixels: [RGBA] = []
    }
    var images: [Int: Image] = [:]
    var placed: Set<Int> = []
    var problems: [String] = []
    private var keys: [String: String] = [:]
    private var data: [UInt8] = []

    mutating func apply(_ strings: [(kind: UInt8, body: [UInt8], column: Int, row: Int)]) {
      for string in strings where string.kind == 0x5F && string.body.first == UInt8(ascii: "G") {
        let end = string.body.firstIndex(of: 59) ?? string.body.count
        let text = String(decoding: string.body[1..<end], as: UTF8.self)
        var found: [String: String] = [:]
        for pair in text.split(separator: ",") {
          let sides = pair.split(separator: "=")
          found[String(sides[0])] = String(sides[1])
        }
        if string.body.count - end > 4097 { problems.append("chunk of \(string.body.count)") }
        if data.isEmpty {
          keys = found
        } else if keys["a"] == "f", found["a"] != "f" || found["r"] != keys["r"] {
          problems.append("later chunk of a frame that does not name it")
        }
        if end < string.body.count { data += base64(string.body[(end + 1)...]) }
        if found["m"] == "1" { continue }
        finish()
      }
    }

    private mutating func finish() {
      func number(_ key: String) -> Int { keys[key].flatMap { Int($0) } ?? 0 }
      defer { data = [] }
      let id = number("i")
      if keys["a"] == "d" {
        images[id] = nil
        placed.remove(id)
        return
      }
      if number("f") == 100 {
        guard let picture = png(data), keys["a"] == "T" else {
          problems.append("bad file")
          return
        }
        images[id] = Image(
          width: picture.size.width, height: picture.size.height, pixels: picture.pixels)
        placed.insert(id)
        return
      }
      let (width, height) = (number("s"), number("v"))
      let size = number("f") == 32 ? 4 : 3
      let raw = keys["o"] == "z" ? inflate(data, count: width * height * size) ?? [] : data
      guard raw.count == width * height * size else {
        problems.append("\(raw.count) bytes for \(width)x\(height)")
        return
      }
      let pixels = (0..<width * height).map { index in
        RGBA(
          red: raw[index * size], green: raw[index * size + 1], blue: raw[index * size + 2],
          alpha: size == 4 ? raw[index * size + 3] : 255)
      }
      if keys["a"] == "T" {
        images[id] = Image(width: width, height: height, pixels: pixels)
        placed.insert(id)
      } else if var image = images[id], keys["a"] == "f", number("r") == 1, number("X") == 1 {
        for y in 0..<height {
          for x in 0..<width {
            image.pixels[(y + number("y")) * image.width + x + number("x")] = pixels[y * width + x]
          }
        }
        images[id] = image
      } else {
        problems.append("unknown \(keys)")
      }
    }
  }

  /// The pixels of a sixel screen.
  struct Sixels {
    let width: Int
    let height: Int
    let cell: PixelSize
    var pixels: [UInt32]
    var isOpaqueBackground = false
    var outside = 0

    init(screen: ScreenSize) {
      width = screen.columns * screen.cell.width
      height = screen.rows * screen.cell.height
      cell = screen.cell
      pixels = Array(repeating: .max, count: width * height)
    }

    mutating func apply(_ strings: [(kind: UInt8, body: [UInt8], column: Int, row: Int)]) {
      for string in strings where string.kind == 0x50 {
        guard let start = string.body.firstIndex(of: UInt8(ascii: "q")) else { continue }
        if !String(decoding: string.body[..<start], as: UTF8.self).hasSuffix(";1") {
          isOpaqueBackground = true
        }
        draw(
          Array(string.body[(start + 1)...]), x: string.column * cell.width,
          y: string.row * cell.height)
      }
    }

    private mutating func draw(_ body: [UInt8], x left: Int, y top: Int) {
      var colors: [Int: UInt32] = [:]
      var color: UInt32 = 0
      var (x, y, count, index) = (left, top, 1, 0)
      // What the raster attributes say is covered; they count in whole cells.
      var (right, bottom) = (left, top)
      func numbers() -> [Int] {
        var end = index
        while end < body.count, body[end] == 59 || (48...57).contains(body[end]) { end += 1 }
        defer { index = end }
        return String(decoding: body[index..<end], as: UTF8.self).split(separator: ";").map {
          Int($0) ?? 0
        }
      }
      while index < body.count {
        let byte = body[index]
        index += 1
        switch byte {
        case 35:
          let values = numbers()
          if values.count == 5 {
            func level(_ percent: Int) -> UInt32 { UInt32(percent * 255 / 100) }
            colors[values[0]] = level(values[2]) << 16 | level(values[3]) << 8 | level(values[4])
          } else {
            color = colors[values[0]] ?? 0xFF00FF00
          }
        case 34:
          let values = numbers()
          // What reaches into the last row of the screen scrolls it.
          if values.count != 4 || values[0] != values[1] || values[2] % cell.width != 0
            || values[3] % cell.height != 0 || top + values[3] > height - cell.height
          {
            outside += 1
          } else {
            (right, bottom) = (left + values[2], top + values[3])
          }
        case 33: count = numbers()[0]
        case 36: x = left
        case 45:
          x = left
          y += 6
        default:
          if y + 6 > height - cell.height { outside += 1 }
          for _ in 0..<count {
            for line in 0..<6 where (byte - 63) >> UInt8(line) & 1 == 1 {
              if x < min(width, right), y + line < min(height, bottom) {
                pixels[(y + line) * width + x] = color
              } else {
                outside += 1
              }
            }
            x += 1
          }
          count = 1
        }
      }
    }
  }

  /// The pixels of a PNG file, as libpng reads them.
  static func png(_ file: [UInt8]) -> (size: PixelSize, pixels: [RGBA])? {
    guard
      let image = try? AnimatedImage(bytes: file, options: DecodingOptions(decoder: .reference)),
      image.damage.isEmpty, let frame = try? FrameReader(image).next(), frame.damage == nil
    else { return nil }
    let bitmap = frame.bitmap
    let places = (0..<bitmap.height).flatMap { y in (0..<bitmap.width).map { (x: $0, y: y) } }
    return (bitmap.size, places.map { bitmap[$0.x, $0.y] })
  }
}
