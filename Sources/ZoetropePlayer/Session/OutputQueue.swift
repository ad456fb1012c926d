import SystemPackage

/// Bytes for a terminal that may accept only some of them at a time.
struct OutputQueue: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0

  var isEmpty: Bool { bytes.isEmpty }

  mutating func append(_ more: [UInt8]) {
    if bytes.isEmpty { bytes = more } else { bytes += more }
  }

  /// Discards everything, and appends `bytes`.
  mutating func replace(with bytes: [UInt8]) {
    self.bytes.removeAll(keepingCapacity: true)
    self.bytes += bytes
    start = 0
  }

  /// Writes as much as the terminal accepts now.
  ///
  /// - Throws: The error after which nothing can be written; the queue is then empty.
  mutating func flush(to device: TerminalDevice) throws(Errno) {
    while start < bytes.count {
      do throws(Errno) {
        let count = try device.write(bytes[start...])
        if count == 0 { return }
        start += count
      } catch {
        replace(with: [])
        throw error
      }
    }
    replace(with: [])
  }

  /// Writes everything, for at most a second; returns whether that was done.
  mutating func finish(on device: TerminalDevice) -> Bool {
    defer { replace(with: []) }
    return device.writeAll(Array(bytes[start...]))
  }
}
