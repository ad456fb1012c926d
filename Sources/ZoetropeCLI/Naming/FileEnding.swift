/// The extension of an output's name, held against what is written.
enum FileEnding {
  /// What promises a file that the tool does not write.
  private static let others: Set<String> = [
    "avi", "avif", "bmp", "gif", "heic", "ico", "jpe", "jpeg", "jpg", "jxl", "m4v", "mkv", "mov",
    "mp4", "pdf", "ppm", "svg", "tga", "tif", "tiff", "webm", "webp",
  ]

  /// Refuses names that end like another kind of file than `format`: what opens such a file goes by
  /// its name, and fails.
  static func check(_ template: OutputTemplate, _ format: OutputFormat) throws(CommandFailure) {
    guard case .text(let bytes)? = template.tokens.last,
      let dot = bytes.lastIndex(of: UInt8(ascii: "."))
    else { return }
    let ending = String(decoding: bytes[(dot + 1)...], as: UTF8.self)
    let isWrong =
      others.contains(ending.lowercased())
      || format == .rgba && ["png", "apng"].contains(ending.lowercased())
    guard isWrong else { return }
    let content = format == .png ? "PNG" : "raw pixels"
    throw .usage("the output is \(content), and its name ends in .\(ending)")
  }
}
