import Foundation
import Synchronization
import SystemPackage
import Zoetrope

/// How many loads succeeded, and how many failed with which code.
private final class Counts: Sendable {
  let state = Mutex((loaded: 0, failed: [:] as [String: Int]))
}

extension TableChurn {
  /// Loads every file of `directory` through one ``FrameLoader`` under a budget of `byteLimit` bytes, `width` at a
  /// time, twice. Prints how many loads succeeded and failed, and by how many KiB the peak of this process's memory
  /// grew, which must be at most `bound`.
  ///
  /// - Parameter opensAlone: Whether each file is only opened, without the loader.
  static func load(
    _ directory: FilePath, byteLimit: Int, width: Int, bound: Int?, opensAlone: Bool
  ) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []
    let before = peak()
    let counts = Counts()
    let done = DispatchSemaphore(value: 0)
    Task {
      let budget = MemoryBudget(byteLimit: byteLimit)
      let loader = FrameLoader(cache: MemoryFrameCache(budget: budget), budget: budget)
      await withTaskGroup(of: Void.self) { group in
        for (number, name) in (names.sorted() + names.sorted()).enumerated() {
          if number >= width { await group.next() }
          group.addTask {
            do throws(AnimatedImageError) {
              let path = directory.appending(name)
              if opensAlone {
                _ = try await AnimatedImage.open(path)
              } else {
                _ = try await loader.bitmap(forFileAt: path)
              }
              counts.state.withLock { $0.loaded += 1 }
            } catch {
              counts.state.withLock { $0.failed["\(error.code)", default: 0] += 1 }
            }
          }
        }
      }
      withExtendedLifetime(loader) {}
      done.signal()
    }
    done.wait()
    let (loaded, failed) = counts.state.withLock { $0 }
    let growth = peak() - before
    print("loaded \(loaded), failed \(failed), \(growth) KiB more at the peak")
    if !failed.isEmpty { fail("\(failed)") }
    if let bound, growth > bound { fail("more than \(bound) KiB") }
  }

  /// The peak of this process's resident memory in KiB.
  private static func peak() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  /// Writes 64 GIFs of 99,001 frames and 4 MB of comments into `directory`.
  static func writeLongFiles(_ directory: FilePath) {
    let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
    var comment: [UInt8] = [0x21, 0xfe]
    for _ in 0..<(16 << 10) / 256 { comment += [255] + Array(repeating: 0x61, count: 255) }
    comment.append(0)
    var bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
    for _ in 0..<250 { bytes += comment }
    for _ in 0..<99_001 { bytes += frame }
    for number in 0..<64 {
      let path = directory.appending("long-\(number).gif").string
      // Distinct bytes, so that no picture is found in the cache.
      let own = bytes + [0x21, 0xfe, 1, UInt8(number), 0, 0x3b]
      guard FileManager.default.createFile(atPath: path, contents: Data(own)) else {
        return fail("cannot write \(path)")
      }
    }
  }
}
