internal import Synchronization

/// The charge for the bytes of a stream that are in memory. Unless ``refund()`` ends it earlier, the charge lasts until
/// the bytes are freed, because an image of the stream may outlive the stream.
final class StreamCharge: Sendable {
  private static let step = 1 << 16

  private let budget: MemoryBudget
  /// The number of bytes that the stream has charged to the budget, or nil once ``refund()`` has been called, for
  /// example because the holder of the stream's image has taken over the charge. The stream then charges nothing more.
  private let charged = Mutex<Int?>(0)

  init(_ budget: MemoryBudget) { self.budget = budget }

  deinit { refund() }

  /// Raises the charge to `byteCount` bytes if that raises it by at least one step. Returns whether the charge was
  /// raised.
  func grow(to byteCount: Int) -> Bool {
    charged.withLock { charged in
      guard let old = charged, byteCount - old >= Self.step else { return false }
      budget.charge(byteCount - old, as: .images)
      charged = byteCount
      return true
    }
  }

  func refund() {
    let count = charged.withLock { $0.take() }
    if let count, count > 0 { budget.charge(-count, as: .images) }
  }
}
