#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The transfer curve of sRGB (IEC 61966-2-1), and tables of it, made when first used.
enum SRGB {
  /// The last index of ``codes``.
  ///
  /// The steepest part of the curve climbs 0.2 codes a step, so that light made of a code always
  /// finds its code again, and any other is at most 1 off.
  static let codeSteps = 16383

  /// Light from 0 to 1 for each 8-bit code.
  static let light8: [Float] = (0..<256).map { Float(light(of: Double($0) / 255)) }
  /// Light from 0 to 1 for each 16-bit code; 512 KiB.
  static let light16: [Double] = (0..<65536).map { light(of: Double($0) / 65535) }
  /// The 8-bit code for light `index / codeSteps`.
  static let codes: [UInt8] = (0...codeSteps).map {
    UInt8((code(of: Double($0) / Double(codeSteps)) * 255).rounded())
  }

  /// The light, 0 to 1, that code `code`, 0 to 1, stands for.
  static func light(of code: Double) -> Double {
    code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4)
  }

  /// The code, 0 to 1, for an amount of light; clamped.
  static func code(of light: Double) -> Double {
    let light = min(max(light, 0), 1)
    return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
  }
}
