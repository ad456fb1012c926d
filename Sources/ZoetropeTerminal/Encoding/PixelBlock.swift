internal import ZoetropeFrames

/// Copies part of a picture, row by row without padding.
enum PixelBlock {
  /// Returns whether every pixel of `rect` is opaque.
  static func isOpaque(_ bitmap: Bitmap, _ rect: PixelRect) -> Bool {
    for y in rect.y..<rect.maxY {
      let row = bitmap.pixels(row: y)
      for x in rect.x..<rect.maxX where row[x].alpha != 255 { return false }
    }
    return true
  }

  /// Returns red, green and blue of each pixel of `rect`. Transparent pixels are blended with `backdrop` in coded
  /// values.
  static func rgb(_ bitmap: Bitmap, _ rect: PixelRect, over backdrop: Backdrop) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rect.width * rect.height * 3)
    for y in rect.y..<rect.maxY {
      let row = bitmap.pixels(row: y)
      for x in rect.x..<rect.maxX {
        let color = flattened(row[x], x: x, y: y, over: backdrop)
        bytes.append(color.red)
        bytes.append(color.green)
        bytes.append(color.blue)
      }
    }
    return bytes
  }

  /// Returns red, green, blue and straight alpha of each pixel of `rect`.
  static func rgba(_ bitmap: Bitmap, _ rect: PixelRect) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rect.width * rect.height * 4)
    for y in rect.y..<rect.maxY {
      bytes.append(copying: bitmap.row(y).extracting(rect.x * 4..<rect.maxX * 4))
    }
    return bytes
  }

  /// Returns `rect` as a separate picture. If there is a backdrop, transparent pixels are blended with it.
  static func picture(
    _ bitmap: Bitmap, _ rect: PixelRect, over backdrop: Backdrop? = nil
  ) -> Bitmap {
    endingWithoutMemory(
      try Bitmap(size: rect.size) { y, bytes in
        let row = bitmap.pixels(row: rect.y + y)
        for x in 0..<rect.width {
          var pixel = row[rect.x + x]
          if let backdrop {
            let color = flattened(pixel, x: rect.x + x, y: rect.y + y, over: backdrop)
            pixel = RGBA(red: color.red, green: color.green, blue: color.blue)
          }
          bytes.storeBytes(of: pixel.word.littleEndian, toByteOffset: x * 4, as: UInt32.self)
        }
      })
  }

  /// Returns the colour of a pixel blended with the backdrop.
  @inline(__always)
  static func flattened(_ pixel: RGBA, x: Int, y: Int, over backdrop: Backdrop) -> TerminalColor {
    if pixel.alpha == 255 {
      return TerminalColor(red: pixel.red, green: pixel.green, blue: pixel.blue)
    }
    let under = backdrop.color(x: x, y: y)
    let alpha = Int(pixel.alpha)
    func mix(_ over: UInt8, _ below: UInt8) -> UInt8 {
      UInt8((Int(over) * alpha + Int(below) * (255 - alpha) + 127) / 255)
    }
    return TerminalColor(
      red: mix(pixel.red, under.red), green: mix(pixel.green, under.green),
      blue: mix(pixel.blue, under.blue))
  }
}

/// Assigns numbers to colours, counted from 0, in the order in which the colours are first used, up to a limit.
struct ColorTable: Sendable {
  /// The colours. The index of a colour is its number.
  private(set) var colors: [UInt32] = []
  private let limit: Int
  private let mask: Int
  /// An open-addressing hash table. Each element is the number of a colour plus one, or 0 if the element is free.
  private var places: [UInt16]
  private var lastColor: UInt32 = 0
  private var lastIndex = -1

  init(limit: Int) {
    self.limit = limit
    var size = 1
    while size < limit * 4 { size *= 2 }
    mask = size - 1
    places = Array(repeating: 0, count: size)
  }

  /// Returns the number of `color`, and assigns one if the colour has none; returns nil if the table is full.
  @inline(__always)
  mutating func index(of color: UInt32) -> Int? {
    if color == lastColor, lastIndex >= 0 { return lastIndex }
    return find(color)
  }

  private mutating func find(_ color: UInt32) -> Int? {
    let place = place(of: color)
    if places[place] == 0 {
      guard colors.count < limit else { return nil }
      colors.append(color)
      places[place] = UInt16(colors.count)
    }
    lastColor = color
    lastIndex = Int(places[place]) - 1
    return lastIndex
  }

  /// Returns the number of `color`, or nil if the colour has none.
  @inline(__always)
  func number(of color: UInt32) -> Int? {
    if color == lastColor, lastIndex >= 0 { return lastIndex }
    let index = Int(places[place(of: color)]) - 1
    return index < 0 ? nil : index
  }

  /// Returns the element of ``places`` that has the number of `color`, or the free one where its number belongs.
  @inline(__always)
  private func place(of color: UInt32) -> Int {
    var place = Int(truncatingIfNeeded: (color &* 0x9E37_79B1) >> 8) & mask
    while places[place] != 0, colors[Int(places[place]) - 1] != color { place = (place + 1) & mask }
    return place
  }

  /// Returns whether `color` has a number.
  func contains(_ color: UInt32) -> Bool { number(of: color) != nil }

  /// Removes all colours.
  mutating func removeAll() {
    self = ColorTable(limit: limit)
  }
}
