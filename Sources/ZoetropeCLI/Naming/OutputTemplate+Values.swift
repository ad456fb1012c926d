import Zoetrope

extension OutputTemplate.Values {
  /// The values for frame `index` of `image`, or for its static image; times are the stored delays.
  init(input: InputFile, index: Int?, of image: AnimatedImage, format: OutputFormat) {
    let start = image.frames.prefix(index ?? 0).storedDuration
    self.init(
      name: input.fullStem, stem: input.stem, index: index,
      timeMilliseconds: start.thousandths / 1000,
      delayMilliseconds: index.map { image.frames[$0].delay.milliseconds } ?? 0,
      fileExtension: format.rawValue)
  }
}
