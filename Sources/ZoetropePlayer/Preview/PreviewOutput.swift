import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// Standard output, for drawing pictures in a terminal that another program uses.
///
/// Each picture is sent in one blocking write. The kernel completes this write before another program can write to the
/// terminal, so neither program interrupts an escape sequence of the other.
struct PreviewOutput: Sendable {
  let isTerminal: Bool
  /// Whether standard output is a pipe or a terminal. Both can lose their reader.
  let isStream: Bool
  let descriptor: FileDescriptor
  /// Whether ``descriptor`` is not shared with other processes, so that it may be made non-blocking.
  private let isOwn: Bool

  init() {
    isTerminal = isatty(STDOUT_FILENO) == 1
    isStream = isTerminal || (try? FileStatus(of: .standardOutput))?.isRegular == false
    let options: FileDescriptor.OpenOptions = [
      .init(rawValue: O_NOCTTY), .closeOnExec, .nonBlocking,
    ]
    // A regular file is not opened again, because the new descriptor would write from the beginning of the file.
    let own =
      isStream ? try? FileDescriptor.open("/proc/self/fd/1", .writeOnly, options: options) : nil
    descriptor = own ?? .standardOutput
    isOwn = own != nil
    setBlocking(true)
  }

  private func setBlocking(_ isBlocking: Bool) {
    if isOwn { _ = fcntl(descriptor.rawValue, F_SETFL, isBlocking ? 0 : O_NONBLOCK) }
  }

  /// The result of a write.
  enum Outcome: Hashable {
    case written
    /// A signal arrived before any byte was written.
    case notBegun
    /// A signal arrived when only some of the bytes were written.
    case cut
    /// The terminal or the reader has gone away.
    case gone
    /// The output cannot be written for another reason: for example, the disk is full.
    case failed(CommandFailure)
  }

  /// Writes all of `bytes`, unless a signal asks the process to end.
  func write(_ bytes: [UInt8]) -> Outcome {
    var done = 0
    while done < bytes.count {
      if Signals.ending != nil { return done == 0 ? .notBegun : .cut }
      // A signal interrupts a write that has begun, but a signal that arrives just before the write does not. The wake
      // pipe is therefore checked first.
      if done == 0, wait(forOutput: true, for: nil).contains(.wake) {
        WakePipe.drain()
        continue
      }
      do {
        done += try descriptor.writeSome(bytes[done...])
      } catch Errno.interrupted {
        continue
      } catch {
        let error = error as? Errno ?? .ioError
        // A terminal that has been closed reports any of several errors.
        guard !isTerminal, error != .brokenPipe else { return .gone }
        return .failed(WriteFailure.system(error, OutputStream.standardOutput.name).commandFailure)
      }
    }
    return .written
  }

  /// Writes the bytes that end a preview, even after a signal. Gives up after `time`.
  func finish(_ bytes: [UInt8], within time: Duration = .seconds(2)) {
    setBlocking(false)
    let deadline = ContinuousClock.now + time
    var rest = bytes[...]
    while !rest.isEmpty {
      do {
        rest = rest.dropFirst(try descriptor.writeSome(rest))
      } catch Errno.interrupted {
        continue
      } catch Errno.resourceTemporarilyUnavailable {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return }
        _ = wait(forOutput: true, wakes: false, for: left)
      } catch {
        return
      }
    }
  }

  /// Whether standard output accepts a picture now.
  var hasRoom: Bool { wait(forOutput: true, wakes: false, for: .zero).contains(.output) }

  /// Waits until there is room for output, until the ``WakePipe`` is written to (if `wakes` is true), until the
  /// terminal or the reader goes away, or until `time` has passed. If `time` is nil, there is no time limit.
  func wait(forOutput output: Bool, wakes: Bool = true, for time: Duration?) -> Readiness {
    // The time is rounded up, because a wait that ended too early would be repeated immediately.
    let milliseconds = time.map {
      Int32((min(max($0, .zero), .seconds(3600)) / .milliseconds(1)).rounded(.up))
    }
    let found = Readiness(
      of: descriptor.rawValue, output ? Int16(POLLOUT) : 0, wakes: wakes,
      milliseconds: milliseconds ?? -1)
    // Writing tells that the reader has gone away.
    return found.contains(.gone) ? found.union(.output) : found
  }
}
