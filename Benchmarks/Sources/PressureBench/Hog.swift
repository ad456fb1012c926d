import Glibc

/// One MiB of memory in use.
final class Hog {
  private static let byteCount = 1 << 20
  private let block: UnsafeMutableRawPointer?

  init() {
    block = unsafe mmap(
      nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let block = unsafe block, UInt(bitPattern: block) != .max else { exit(71) }
    memset(block, 1, Self.byteCount)
  }

  deinit { munmap(block, Self.byteCount) }
}
