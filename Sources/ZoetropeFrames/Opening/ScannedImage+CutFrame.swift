extension ScannedImage {
  /// Decides whether to keep a truncated last frame. The frame is kept in three cases: if its pixels are complete, if
  /// it is the only frame and has at least one pixel, or if partial frames are requested and it has at least one pixel.
  ///
  /// - Returns: The frame's pixels if the frame is kept, is the only frame, and `options` select the fast decoder;
  ///   otherwise nil. The pixels are returned so that such a frame need not be decoded again, which would take most of
  ///   the time until it is shown.
  /// - Throws: `truncated` if no pixel of the truncated frame can be decoded and the file has no other frame and no
  ///   static image.
  mutating func settleCutFrame(
    header: ImageHeader, source: any ByteSource, options: DecodingOptions
  ) throws(AnimatedImageError) -> FramePixels? {
    guard let control = cutFrame else { return nil }
    let pixels = FramePixels()
    let decodesFast = options.decoder == .fast
    // giflib must not be used here, because it counts complete rows only and the list of frames must not depend on the
    // decoder.
    var options = options
    options.decoder = .fast
    var decoder = FrameDecoder(header: header, options: options)
    try decoder.decode(control, from: source, into: pixels)
    let all = control.rect.size.area
    if pixels.content.validPixels >= all {
      frames.append(control)
      return decodesFast && frames.count == 1 ? pixels : nil
    }
    damage.append(
      Damage(
        .cutFrame, "the data ends after \(pixels.content.validPixels) of \(all) pixels",
        frameIndex: frames.count, byteOffset: byteCount,
        validRows: pixels.content.validPixels / max(pixels.content.width, 1)))
    if pixels.content.validPixels > 0, frames.isEmpty || options.damage == .partialRows {
      frames.append(control)
      return decodesFast && frames.count == 1 ? pixels : nil
    } else if frames.isEmpty, staticImage != nil {
      note(
        .pngStaticOnly, "the data ends before the first row of the first frame",
        at: byteCount)
      showStaticImage()
    } else if frames.isEmpty {
      throw AnimatedImageError(
        .truncated, "the data ends before the first row of the first frame", format: header.format,
        frameIndex: 0,
        byteOffset: byteCount)
    }
    return nil
  }
}
