import SystemPackage

/// Bytes that wait to be written to a terminal, which may accept only some of them at a time.
struct OutputQueue: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0

  var isEmpty: Bool { bytes.isEmpty }

  mutating func append(_ more: [UInt8]) {
    if bytes.isEmpty { bytes = more } else { bytes += more }
  }

  /// Discards all pending bytes, and appends `bytes`.
  mutating func replace(with bytes: [UInt8]) {
    self.bytes.removeAll(keepingCapacity: true)
    self.bytes += bytes
    start = 0
  }

  /// Writes as many bytes as the terminal accepts without blocking.
  ///
  /// - Throws: An error after which nothing can be written to the terminal. The queue is then empty.
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

  /// Writes all pending bytes, but gives up after a second. Returns whether all bytes were written.
  mutating func finish(on device: TerminalDevice) -> Bool {
    defer { replace(with: []) }
    return device.writeAll(Array(bytes[start...]))
  }
}
