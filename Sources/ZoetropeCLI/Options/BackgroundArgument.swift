import ArgumentParser
import Zoetrope

/// A value of `--bg` or `--matte`: the colour behind transparent pixels.
struct BackgroundArgument: ExpressibleByArgument, Hashable {
  let color: RGBA

  init(color: RGBA) { self.color = color }

  init?(argument: String) {
    switch argument {
    case "none": color = .clear
    case "black": color = .black
    case "white": color = RGBA(red: 255, green: 255, blue: 255)
    default:
      guard let color = RGBA(hexadecimal: argument) else { return nil }
      self.color = color
    }
  }

  var defaultValueDescription: String {
    switch color {
    case .clear: "none"
    case .black: "black"
    default:
      String(UInt32(color.red) << 16 | UInt32(color.green) << 8 | UInt32(color.blue), radix: 16)
    }
  }

  static var defaultCompletionKind: CompletionKind { .list(["none", "black", "white"]) }
}

extension RGBA {
  /// Creates the opaque colour that six hexadecimal digits describe, as in `336699`. Style sheets and other programs
  /// write a number sign before them.
  init?(hexadecimal text: String) {
    let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
    guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit),
      let value = UInt32(digits, radix: 16)
    else { return nil }
    self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
  }
}
