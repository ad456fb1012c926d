/// One frame's turn in a playback.
package struct PlaybackStep: Sendable, Hashable {
  /// The frame.
  package var frame: Int
  /// The play it belongs to, from 0.
  package var play: Int
  /// Which way time runs.
  package var direction: PlaybackDirection
  /// When it begins, in ticks since the machine's anchor.
  package var start: Int128

  package init(frame: Int, play: Int = 0, direction: PlaybackDirection, start: Int128 = 0) {
    self.frame = frame
    self.play = play
    self.direction = direction
    self.start = start
  }
}
