import SystemPackage

extension FileDescriptor {
  /// Writes all of `bytes`, through short writes and interruptions.
  ///
  /// - Parameter name: What errors call the output.
  func writeFully(_ bytes: [UInt8], name: String) throws(WriteFailure) {
    var done = 0
    while done < bytes.count {
      if let status = SignalFlag.status { throw .stopped(status) }
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
    try? FileDescriptor.standardError.writeFully(Array(text.utf8), name: "standard error")
  }
}
