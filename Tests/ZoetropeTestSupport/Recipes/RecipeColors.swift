internal import Zoetrope

/// The letters of a recipe and the colours they represent.
struct RecipeColors {
  private var letters: [UInt8: PixelSample] = [:]
  private var palettes: [String: [PixelSample]] = [:]

  /// The letters that every recipe knows.
  init() {
    for (letter, word) in Self.common {
      letters[letter] = PixelSample(
        RGBA(red: UInt8(word >> 16), green: UInt8(word >> 8 & 255), blue: UInt8(word & 255)))
    }
    letters[UInt8(ascii: ".")] = .clear
  }

  private static let common: [(UInt8, UInt32)] = [
    (UInt8(ascii: "r"), 0xff0000), (UInt8(ascii: "g"), 0x00ff00), (UInt8(ascii: "b"), 0x0000ff),
    (UInt8(ascii: "c"), 0x00ffff), (UInt8(ascii: "m"), 0xff00ff), (UInt8(ascii: "y"), 0xffff00),
    (UInt8(ascii: "k"), 0x000000), (UInt8(ascii: "w"), 0xffffff), (UInt8(ascii: "a"), 0x808080),
    (UInt8(ascii: "o"), 0xff8000), (UInt8(ascii: "n"), 0x804000),
  ]

  /// `color L HEX`: 6 or 8 digits for 8 bits a channel, 12 or 16 for 16 bits.
  /// `index L N`: the letter stands for palette index N, whatever the palette holds.
  /// `palette NAME SPEC…`: a list of letters; see ``samples(_:_:)``.
  mutating func define(_ arguments: inout RecipeArguments) throws(RecipeError) {
    let name = try arguments.word("a name")
    if arguments.keyword == "palette" {
      var colors: [PixelSample] = []
      while let word = arguments.next() {
        if word == "ramp" {
          let count = try arguments.int("the number of colours")
          let start = try single(try arguments.word("a colour"), arguments)
          let end = try single(try arguments.word("a colour"), arguments)
          for step in 0..<count {
            // Palettes have 8 bits per channel, so that a colour is found by its exact value.
            let color = PixelSample.between(start, end, step: step, of: count - 1).rgba
            colors.append(PixelSample(color))
          }
        } else {
          colors += try samples(word, arguments)
        }
      }
      palettes[name] = colors
      return
    }
    guard name.utf8.count == 1, let letter = name.utf8.first else {
      throw arguments.error("“\(name)” is not one letter")
    }
    let value = try arguments.word("a value")
    if arguments.keyword == "index" {
      let index = UInt8(clamping: try arguments.number(value))
      letters[letter] = PixelSample(red: 0, green: 0, blue: 0, index: index)
    } else {
      letters[letter] = try color(value, arguments)
    }
  }

  private func color(
    _ digits: String, _ arguments: RecipeArguments
  ) throws(RecipeError) -> PixelSample {
    guard let word = UInt64(digits, radix: 16) else {
      throw arguments.error("“\(digits)” is not a colour")
    }
    func byte(_ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> shift) }
    func short(_ shift: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: word >> shift) }
    switch digits.utf8.count {
    case 6: return PixelSample(RGBA(red: byte(16), green: byte(8), blue: byte(0)))
    case 8:
      return PixelSample(RGBA(red: byte(24), green: byte(16), blue: byte(8), alpha: byte(0)))
    case 12: return PixelSample(red: short(32), green: short(16), blue: short(0))
    case 16: return PixelSample(red: short(48), green: short(32), blue: short(16), alpha: short(0))
    default: throw arguments.error("a colour has 6, 8, 12 or 16 digits")
    }
  }

  /// The colour of one letter.
  func single(
    _ word: String, _ arguments: RecipeArguments
  ) throws(RecipeError) -> PixelSample {
    let list = try samples(word, arguments)
    guard list.count == 1, let sample = list.first else {
      throw arguments.error("“\(word)” is not one letter")
    }
    return sample
  }

  /// The colours of `@NAME`, or of a string of letters.
  func samples(
    _ word: String, _ arguments: RecipeArguments
  ) throws(RecipeError) -> [PixelSample] {
    if word.hasPrefix("@") {
      guard let palette = palettes[String(word.dropFirst())] else {
        throw arguments.error("no palette \(word)")
      }
      return palette
    }
    return try row(word.recipeBytes, line: arguments.line)
  }

  /// The colours of a row of letters.
  func row(_ text: [UInt8], line: Int) throws(RecipeError) -> [PixelSample] {
    var result: [PixelSample] = []
    for letter in text {
      guard let sample = letters[letter] else {
        throw RecipeError(line, "the letter “\(Unicode.Scalar(letter))” stands for no colour")
      }
      result.append(sample)
    }
    return result
  }
}
