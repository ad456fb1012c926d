import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

/// The size of a terminal as the kernel reports it.
struct KernelSize: Hashable, Sendable {
  let screen: ScreenSize

  /// The size of the first terminal among standard output, standard error and standard input. If none of them is a
  /// terminal, this is the size of the controlling terminal. If there is no controlling terminal either, the size is
  /// given by `COLUMNS` and `LINES`, or is nil if these variables are not set.
  static var current: KernelSize? {
    for descriptor in [FileDescriptor.standardOutput, .standardError, .standardInput] {
      if let size = KernelSize(descriptor) { return size }
    }
    let options: FileDescriptor.OpenOptions = [.init(rawValue: O_NOCTTY), .closeOnExec]
    if let terminal = try? FileDescriptor.open("/dev/tty", .readOnly, options: options) {
      defer { try? terminal.close() }
      if let size = KernelSize(terminal) { return size }
    }
    func number(_ name: String) -> Int? {
      environmentVariable(name).flatMap { Int($0) }.flatMap { (2...1000).contains($0) ? $0 : nil }
    }
    guard let columns = number("COLUMNS"), let rows = number("LINES") else { return nil }
    return KernelSize(screen: ScreenSize(columns: columns, rows: rows))
  }

  init(screen: ScreenSize) { self.screen = screen }

  private init?(_ descriptor: FileDescriptor) {
    guard let size = descriptor.terminalSize, size.rows > 0 else { return nil }
    screen = ScreenSize(
      columns: size.columns, rows: size.rows, pixelWidth: size.pixelWidth,
      pixelHeight: size.pixelHeight)
  }
}
