package import Zoetrope

extension [Bitmap] {
  /// The file of an animation that shows each picture for `delay`.
  ///
  /// - Parameter hasSurvey: Whether the writer knows all colours before the first picture.
  package func written(
    _ options: AnimationWriterOptions, delay: FrameDelay, hasSurvey: Bool
  ) throws -> (bytes: [UInt8], written: WrittenAnimation) {
    var options = options
    if hasSurvey {
      var survey = ColorSurvey(for: options)
      for picture in self { try survey.add(picture) }
      options.survey = survey
    }
    let sink = MemorySink()
    let writer = try AnimationWriter(to: sink, options: options)
    for picture in self { try writer.append(picture, delay: delay) }
    let written = try writer.finish()
    return (sink.bytes, written)
  }
}
