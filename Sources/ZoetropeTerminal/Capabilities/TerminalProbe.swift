/// Asks a terminal what it can do.
///
/// The caller has turned echo and line editing off before. Everything that arrives while it waits
/// and is not an answer is kept in ``typed``, so no key is lost; answers that come too late are
/// recognised by the ``InputDecoder`` that is handed on.
public struct TerminalProbe: Sendable {
  /// What was found.
  public private(set) var capabilities: TerminalCapabilities
  /// Keys that came in between.
  public private(set) var typed: [InputEvent] = []
  /// The replies, in the order in which they came.
  public private(set) var replies: [TerminalReply] = []
  /// Decodes what comes next; it may hold the start of a late answer.
  public private(set) var decoder = InputDecoder()

  /// Asks, and waits for the answer to the last question.
  ///
  /// `write` sends bytes; `read` waits at most as long as it is told and gives what arrived: no
  /// bytes when the time is up, nil when the input has ended. At most `patience` is spent (150 ms,
  /// and 1 s over SSH and for terminals that are known to answer), as `now` measures it.
  public init<Instant: InstantProtocol>(
    _ start: TerminalCapabilities, patience: Duration? = nil, now: () -> Instant,
    write: ([UInt8]) -> Void, read: (Duration) -> [UInt8]?
  ) where Instant.Duration == Duration {
    capabilities = start
    if start.isDumb { return }
    let isSlow = start.isRemote || start.isSureToAnswer
    let limit = patience ?? (isSlow ? .seconds(1) : .milliseconds(150))
    let deadline = now().advanced(by: limit)
    let query = TerminalQuery(
      isMultiplexed: start.multiplexer != .none, asksForUTF8: !start.hasUTF8)
    write(query.bytes)
    var isDone = false
    while !isDone {
      let left = now().duration(to: deadline)
      guard left > .zero, let bytes = read(left) else { break }
      for event in decoder.feed(bytes) {
        switch event {
        case .key(let key) where !start.hasUTF8 && key.key == .function(3):
          // Where the cursor is in row 1 has the form of this key.
          replies.append(.cursor(row: 1, column: Int(key.modifiers.rawValue) + 1))
        case .key: typed.append(event)
        case .reply(let reply):
          replies.append(reply)
          if case .attributes = reply { isDone = true }
        }
      }
    }
    capabilities.apply(replies)
  }
}
