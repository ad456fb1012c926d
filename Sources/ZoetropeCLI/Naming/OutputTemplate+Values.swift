import Zoetrope

extension OutputTemplate.Values {
  /// The values for frame `index` of `image`, or for its static image; times are the stored delays.
  init(input: InputFile, index: Int?, of image: AnimatedImage, format: OutputFormat) {
    var start = Decimal(thousandths: 0)
    for frame in image.frames.prefix(index ?? 0) { start += Decimal(frame.delay) }
    self.init(
      name: input.fullStem, stem: input.stem, index: index,
      timeMilliseconds: start.thousandths / 1000,
      delayMilliseconds: index.map { image.frames[$0].delay.milliseconds } ?? 0,
      fileExtension: format.rawValue)
  }
}
