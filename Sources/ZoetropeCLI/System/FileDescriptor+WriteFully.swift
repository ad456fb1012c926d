import SystemPackage

extension FileDescriptor {
  /// Writes all of `bytes`, through short writes and interruptions.
  ///
  /// - Parameters:
  ///   - name: What errors call the output.
  ///   - stopsOnSignal: Whether a signal ends it; false for what is told because of a signal, for
  ///     which a second signal, which ends the process, is left.
  func writeFully(
    _ bytes: [UInt8], name: String, stopsOnSignal: Bool = true
  ) throws(WriteFailure) {
    var done = 0
    while done < bytes.count {
      if stopsOnSignal, let status = SignalFlag.status { throw .stopped(status) }
      do {
        // `done` stays within the array; the buffer is not kept.
        done += try unsafe bytes.withUnsafeBytes { buffer in
          unsafe try write(
            UnsafeRawBufferPointer(rebasing: buffer[done...]), retryOnInterrupt: false)
        }
      } catch Errno.interrupted {
        continue
      } catch Errno.brokenPipe {
        throw .closedPipe
      } catch {
        throw .system(error as? Errno ?? .ioError, name)
      }
    }
  }

  /// Writes text for people to standard error; what cannot be written there is lost.
  static func note(_ text: String) {
    try? FileDescriptor.standardError.writeFully(
      Array(text.utf8), name: "standard error", stopsOnSignal: false)
  }
}
