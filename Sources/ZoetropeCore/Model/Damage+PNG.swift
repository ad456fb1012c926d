extension Damage.Kind {
  /// An fdAT chunk has a wrong CRC; its data is used as it is, as in browsers.
  public static let pngCRC = Damage.Kind("png.crc", isTolerated: true, isRefusedByStrict: true)
  /// An IDAT chunk has a wrong CRC; its data is used as it is, where Chromium gives the frame up.
  public static let pngImageCRC = Damage.Kind("png.imageCRC", isTolerated: false)
  /// The checksum at the end of a frame's zlib stream is wrong; its pixels were used as they are.
  public static let pngAdler = Damage.Kind("png.adler", isTolerated: true)
  /// A frame has more data than its pixels need; the rest was ignored.
  public static let pngSurplus = Damage.Kind("png.surplus", isTolerated: true)
  /// All pixels of a frame are there, but its zlib stream does not end as it should.
  public static let pngStreamEnd = Damage.Kind("png.streamEnd", isTolerated: true)
  /// A frame's zlib stream breaks the rules; the rows before that place were kept.
  public static let pngStream = Damage.Kind("png.zlib", isTolerated: false)
  /// A frame's zlib stream ends before its last row; the rows until there were kept.
  public static let pngShort = Damage.Kind("png.short", isTolerated: false)
  /// The file ends inside a frame's data; the rows until there were kept.
  public static let pngTruncated = Damage.Kind("png.truncated", isTolerated: false)
  /// A row names a filter that does not exist; the rows before it were kept.
  public static let pngFilter = Damage.Kind("png.filter", isTolerated: false)
}
