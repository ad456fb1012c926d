/// What a stream does with a frame that its consumer has not taken when the next one is due.
public enum FrameBuffering: String, Sendable, Hashable {
  /// Replaces it: a slow consumer sees fewer frames, never old ones. The default.
  ///
  /// The frame that takes its place counts it in ``ScheduledFrame/skipped`` and covers what it drew
  /// in ``ScheduledFrame/dirtyRect``.
  case newest
  /// Waits: no presented frame is ever lost, and the next one is late by the consumer's delay.
  ///
  /// Together with ``LatePolicy/stretch`` (see ``PlaybackOptions/everyFrame``) a consumer gets each
  /// frame exactly once.
  case lossless
}
