extension ScannedImage {
  /// Refuses an image that cannot be decoded within the bytes that decoding may hold.
  package func checkLiveBytes(
    header: ImageHeader, options: DecodingOptions
  ) throws(AnimatedImageError) {
    let limit = options.limits.liveBytes
    guard limit < .max else { return }
    let others = [staticImage, cutFrame].compactMap { $0 }
    let needed = DecodeFootprint(
      [frames, others].joined(), header: header, options: options
    ).byteCount
    guard needed > limit else { return }
    throw AnimatedImageError(
      .limitExceeded, "liveBytes would be \(needed), the limit is \(limit)", format: header.format)
  }
}
