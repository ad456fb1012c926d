import Zoetrope
import ZoetropeProcess

/// The state of an animation whose bytes are still arriving.
struct ArrivalReport {
  static let schema = "zoetrope.arrival/2"

  private let input: InputFile
  private let stream: StreamedImage
  private let policy: DelayPolicy
  private var progress: StreamProgress?
  private var stored: PlaybackTimeline
  private var shown: PlaybackTimeline

  private var frameCount: Int { shown.frameCount }

  init(input: InputFile, stream: StreamedImage, policy: DelayPolicy) {
    (self.input, self.stream, self.policy) = (input, stream, policy)
    stored = PlaybackTimeline([], policy: .exact)
    shown = PlaybackTimeline([], policy: policy)
  }

  /// Records a change of the stream. Returns whether to print a line, which is the case for the first change and
  /// whenever there are new frames.
  mutating func update(to progress: StreamProgress) -> Bool {
    guard self.progress?.frameCount != progress.frameCount else { return false }
    self.progress = progress
    let frames = stream.core.arrival(after: frameCount).frames.prefix(
      progress.frameCount - frameCount)
    stored.append(Array(frames))
    shown.append(Array(frames))
    return true
  }

  /// Writes the state as one JSON object.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("schema", Self.schema)
      json.field("file", input.fileName, base64Key: "file_base64")
      json.field("format", stream.format.rawValue)
      json.field("width", stream.canvasSize.width)
      json.field("height", stream.canvasSize.height)
      json.field("bytes_received", progress?.byteCount)
      json.field("frame_count", frameCount)
      json.field("announced_frames", progress?.announcedFrameCount)
      AnimationReport.writeDuration(
        stored: Decimal(stored.startTime(frameCount)), shown: Decimal(shown.startTime(frameCount)),
        policy, to: &json)
    }
  }
}
