/// Fixtures that are not yet opened as their recipes state, each with what is missing.
///
/// The tests demand that each of these fails, so that a line goes when its cause does.
enum OpenMismatches {
  /// Names of recipes to what the engine does in their place.
  static let structure: [String: String] = [
    "Bad/apng-actl-missing": "no warning about fcTL without acTL",
    "Bad/apng-cut-before-idat": "noFrames in place of truncated",
    "Bad/crc-idat": "tolerated, where a frame with a wrong IDAT CRC is to be marked damaged",
    "Bad/gif-cut-in-palette": "noFrames in place of truncated",
    "Bad/gif-loop-size-4": "no warning",
    "Bad/gif-pixel-out-of-range": "no warning",
    "Bad/gif-transparent-out-of-range": "no warning",
    "Bad/png-palette-index": "no warning",
  ]

  /// Recipes that `.strict` should refuse and does not.
  static let strict: [String: String] = [
    "Bad/crc-idat": "a wrong CRC of pixel data is tolerated",
    "Bad/crc-fdat": "a wrong CRC of pixel data is tolerated",
  ]

  /// Recipes whose frames depend on the order in which they are read: a frame that would cover all
  /// counts as independent even when it is damaged, so a jump does not draw what lies below it.
  static let order: [String: String] = Dictionary(
    uniqueKeysWithValues: [
      "filter-9", "lzw-bad-code", "lzw-bad-code-first", "lzw-bad-code-in-table", "lzw-code-size-12",
      "lzw-code-size-255", "lzw-code-size-9", "lzw-end-early", "lzw-end-first", "lzw-no-data",
      "lzw-stop-early", "zlib-corrupt", "zlib-cut", "zlib-empty", "zlib-header", "zlib-short",
    ].map { ("Bad/\($0)", "what is below a damaged frame is lost") })
}
