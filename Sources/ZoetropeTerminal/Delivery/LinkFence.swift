/// Prevents frames from queueing up on a slow link.
///
/// A tty accepts bytes long before they are shown, and the system cannot tell how many bytes are in flight: a pty
/// reports none, and ssh buffers many more. Therefore, each frame is followed by the query `CSI 5 n`, which the
/// terminal answers once it has read all bytes up to the query. The fence is closed while two answers are missing, or
/// while the bytes in flight will probably take longer than 100 ms to arrive. However slow the link is, the frame on
/// screen is at most two frames old.
public struct LinkFence: Sendable {
  /// The query to write after each frame.
  public static let query: [UInt8] = [0x1B, 0x5B, 0x35, 0x6E]

  /// Whether the fence is used. If false, for example because the terminal did not answer the probe, the fence is
  /// always open.
  package let isEnabled: Bool
  /// The time that an answer takes on an idle link.
  package let latency: Duration
  /// The maximum number of unanswered frames.
  private static let limit = 2
  /// The maximum time that a frame may wait for the bytes written before it.
  private static let delayLimit = Duration.milliseconds(100)
  /// The time after which a missing answer counts as lost.
  private static let patience = Duration.seconds(3)
  /// The measured throughput of the link, or nil before the first measurement.
  package private(set) var bytesPerSecond: Double?
  private var pending: [(sent: Duration, byteCount: Int)] = []
  private var lastAnswer: Duration?

  /// Creates a fence for a terminal. If the terminal did not answer the ``TerminalProbe``, the fence is always open.
  public init(_ capabilities: TerminalCapabilities) {
    self.init(isEnabled: capabilities.reportsStatus && capabilities.didAnswer)
  }

  /// Creates a fence with no frame in flight.
  ///
  /// - Parameters:
  ///   - isEnabled: Whether the fence is used. If false, it is always open.
  ///   - latency: The time that an answer takes on an idle link. Default: zero.
  package init(isEnabled: Bool, latency: Duration = .zero) {
    self.isEnabled = isEnabled
    self.latency = latency
  }

  /// The number of frames that were written but not yet answered.
  package var unansweredCount: Int { pending.count }

  /// Returns whether the next frame may be written at `now`, a time measured from any fixed moment.
  ///
  /// If no answer arrives for three seconds, the fence opens again.
  public func isOpen(at now: Duration) -> Bool { opening.map { now > $0 } ?? true }

  /// The time after which the fence is open even if no further answer arrives; nil if the frames in flight do not close
  /// the fence.
  package var opening: Duration? {
    guard isEnabled, let first = pending.first, pending.count >= Self.limit || isSlow else {
      return nil
    }
    return max(first.sent, lastAnswer ?? .zero) + Self.patience
  }

  /// Whether the bytes in flight will probably take longer than a frame may wait for them.
  private var isSlow: Bool {
    guard let bytesPerSecond else { return false }
    let byteCount = pending.reduce(0) { $0 + $1.byteCount }
    return Double(byteCount) / bytesPerSecond > Self.delayLimit / .seconds(1)
  }

  /// Records that a frame of `byteCount` bytes and the query after it were written at `now`.
  ///
  /// If the fence is closed at `now`, all earlier frames that have not been answered count as lost.
  public mutating func didWrite(byteCount: Int, at now: Duration) {
    guard isEnabled else { return }
    if opening != nil { pending.removeAll() }
    pending.append((now, byteCount))
  }

  /// Discards the record of frames in flight, for example after the terminal was restored and set up again.
  package mutating func reset() { pending.removeAll() }

  /// Records that an answer (``TerminalReply/ready``) arrived at `now`.
  public mutating func didAnswer(at now: Duration) {
    guard !pending.isEmpty else { return }
    let (sent, byteCount) = pending.removeFirst()
    // The link was busy with this frame since the frame was written, or since the previous frame was answered.
    let isFirst = lastAnswer.map { $0 <= sent } ?? true
    let start = isFirst ? sent + latency : lastAnswer ?? sent
    lastAnswer = now
    let seconds = (now - start) / .seconds(1)
    guard seconds > 0.0005, byteCount > 256 else { return }
    let rate = Double(byteCount) / seconds
    bytesPerSecond = bytesPerSecond.map { $0 * 0.75 + rate * 0.25 } ?? rate
  }
}
