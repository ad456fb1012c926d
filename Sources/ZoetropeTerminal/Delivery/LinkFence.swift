/// Keeps frames from queueing up on a slow link.
///
/// A tty takes bytes long before they are shown, and nothing local tells how many are still on the
/// way (measured: a pty reports none, and ssh buffers far more). So each frame is followed by a
/// question, `CSI 5 n`, that the terminal answers when it has got that far. While two answers are
/// missing the next frame is left out; so it is while what is on the way needs longer than
/// ``delayLimit``, as far as the answers so far tell. What is shown is at most two frames old,
/// however slow the link.
public struct LinkFence: Sendable {
  /// The question to write after each frame that was written.
  public static let query: [UInt8] = [0x1B, 0x5B, 0x35, 0x6E]

  /// Whether the terminal is asked at all; one that did not answer when it was probed is not.
  public let isEnabled: Bool
  /// How long an answer takes that has nothing to wait for. It says nothing of the link's width.
  public let latency: Duration
  /// How many frames may be unanswered.
  public let limit: Int
  /// How long a frame may have to wait for the bytes before it.
  public let delayLimit: Duration
  /// How long an answer is waited for before it counts as lost.
  public let patience: Duration
  /// Bytes a second that the link takes; nil until answers have told.
  public private(set) var bytesPerSecond: Double?
  private var pending: [(sent: Duration, byteCount: Int)] = []
  private var lastAnswer: Duration?

  /// A fence with nothing on the way.
  public init(
    isEnabled: Bool, latency: Duration = .zero, limit: Int = 2,
    delayLimit: Duration = .milliseconds(100), patience: Duration = .seconds(3)
  ) {
    self.isEnabled = isEnabled
    self.latency = latency
    self.limit = max(limit, 1)
    self.delayLimit = delayLimit
    self.patience = patience
  }

  /// Frames that were written and not yet answered.
  public var unansweredCount: Int { pending.count }

  /// Whether the next frame may be written at `now`, a time since any fixed moment.
  ///
  /// After ``patience`` without an answer the missing ones are given up.
  public func isOpen(at now: Duration) -> Bool { opening.map { now > $0 } ?? true }

  /// When it opens if no answer comes before; nil while it is open.
  public var opening: Duration? {
    guard isEnabled, let first = pending.first, pending.count >= limit || isSlow else { return nil }
    return max(first.sent, lastAnswer ?? .zero) + patience
  }

  /// Whether what is on the way needs too long.
  private var isSlow: Bool {
    guard let bytesPerSecond else { return false }
    let byteCount = pending.reduce(0) { $0 + $1.byteCount }
    return Double(byteCount) / bytesPerSecond > delayLimit / .seconds(1)
  }

  /// Notes that a frame of so many bytes and the question after it were written.
  ///
  /// While too many are unanswered, the frames before count as lost.
  public mutating func didWrite(byteCount: Int, at now: Duration) {
    guard isEnabled else { return }
    if opening != nil { pending.removeAll() }
    pending.append((now, byteCount))
  }

  /// Forgets what is on the way, as after the terminal was given back and taken again.
  public mutating func reset() { pending.removeAll() }

  /// Notes an answer (``TerminalReply/ready``).
  public mutating func didAnswer(at now: Duration) {
    guard !pending.isEmpty else { return }
    let (sent, byteCount) = pending.removeFirst()
    // The link worked on this frame since it was written, or since the one before was through.
    let isFirst = lastAnswer.map { $0 <= sent } ?? true
    let start = isFirst ? sent + latency : lastAnswer ?? sent
    lastAnswer = now
    let seconds = (now - start) / .seconds(1)
    guard seconds > 0.0005, byteCount > 256 else { return }
    let rate = Double(byteCount) / seconds
    bytesPerSecond = bytesPerSecond.map { $0 * 0.75 + rate * 0.25 } ?? rate
  }
}
