extension Damage.Kind {
  /// A GIF frame whose minimum code size is above 8; it has no pixels.
  public static let lzwBadMinimumCodeSize = Self("gif.lzw.badMinimumCodeSize", isTolerated: false)
  /// A GIF frame without compressed data; it has no pixels.
  public static let lzwNoData = Self("gif.lzw.noData", isTolerated: false)
  /// A GIF frame whose end code comes before its last pixel.
  public static let lzwEndCodeEarly = Self("gif.lzw.endCodeEarly", isTolerated: false)
  /// A GIF frame with a code that stands for nothing yet.
  public static let lzwInvalidCode = Self("gif.lzw.invalidCode", isTolerated: false)
  /// A GIF frame whose compressed data end before its last pixel.
  public static let lzwTruncated = Self("gif.lzw.truncated", isTolerated: false)
  /// A GIF frame with compressed data after its last pixel, which are ignored.
  public static let lzwSurplus = Self("gif.lzw.surplus", isTolerated: true)
  /// A GIF frame with all its pixels that the data end without a block terminator.
  public static let gifMissingTerminator = Self("gif.missingTerminator", isTolerated: true)
}
