/// The recorded times of each frame of a playback, for measuring the playback or replaying it.
///
/// All times are in nanoseconds and count from the moment at which playback began to prepare its first frame.
public struct PlaybackTrace: Sendable, Hashable {
  /// The record of one frame that was delivered to the stream.
  package struct Entry: Sendable, Hashable {
    /// The index of the frame in the animation.
    package var index: Int
    /// The number of the play that the frame belongs to, from 0.
    package var play: Int
    /// The time at which the frame should have been shown.
    package var deadline: Int64
    /// The time at which the frame was found to be decoded.
    package var decoded: Int64
    /// The time at which the frame was delivered to the stream.
    package var yielded: Int64
    /// How long after its deadline the frame was delivered.
    package var lateness: Int64
    /// The number of frames skipped directly before this frame.
    package var skipped: Int

    /// Creates an entry.
    package init(
      index: Int, play: Int, deadline: Int64, decoded: Int64, yielded: Int64, lateness: Int64,
      skipped: Int
    ) {
      self.index = index
      self.play = play
      self.deadline = deadline
      self.decoded = decoded
      self.yielded = yielded
      self.lateness = lateness
      self.skipped = skipped
    }
  }

  /// The entries, in the order in which the frames were delivered.
  package var entries: [Entry]

  /// Creates a trace with `entries`.
  package init(entries: [Entry] = []) { self.entries = entries }
}

extension PlaybackTrace.Entry {
  /// The entry as a JSON object on one line. All members are integers, and times are in nanoseconds.
  package var json: String {
    var json = JSONWriter()
    json.object {
      $0.field("index", index)
      $0.field("play", play)
      $0.field("deadline", Int(deadline))
      $0.field("decoded", Int(decoded))
      $0.field("yielded", Int(yielded))
      $0.field("lateness", Int(lateness))
      $0.field("skipped", skipped)
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }
}

extension PlaybackTrace {
  /// The trace as JSON: an object whose `frames` array has one entry per line.
  public var json: String {
    "{\"schema\":\"zoetrope.trace/1\",\"unit\":\"ns\",\"frames\":[\n"
      + entries.map(\.json).joined(separator: ",\n") + "\n]}\n"
  }
}
