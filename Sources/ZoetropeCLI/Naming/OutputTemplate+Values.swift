import Zoetrope

extension OutputTemplate.Values {
  /// The values for frame `index` of `image`, or for its static image, at the times of `policy`.
  init(
    input: InputFile, index: Int?, of image: AnimatedImage, policy: DelayPolicy,
    format: OutputFormat
  ) {
    let starts = index.map { _ in image.startTimes(policy: policy).map(Self.milliseconds) }
    self.init(
      name: input.fullStem, stem: input.stem, index: index,
      starts: starts ?? [], fileExtension: format.rawValue)
  }

  /// The values for frame `index`; `starts` says when each frame is shown, and when the play ends.
  init(name: [UInt8], stem: [UInt8], index: Int?, starts: [Int], fileExtension: String) {
    self.init(
      name: name, stem: stem, index: index, timeMilliseconds: index.map { starts[$0] } ?? 0,
      delayMilliseconds: index.map { starts[$0 + 1] - starts[$0] } ?? 0,
      fileExtension: fileExtension)
  }

  /// Whole milliseconds, cut.
  static func milliseconds(_ time: Duration) -> Int { Decimal(time).thousandths / 1000 }
}
