import Glibc
import SystemPackage
import Zoetrope
import ZoetropeProcess
import ZoetropeTerminal

extension ScreenSize {
  /// The size, as the kernel reports it, of the first terminal among standard output, standard error and standard
  /// input. If none of them is a terminal, this is the size of the controlling terminal. If there is no controlling
  /// terminal either, the size is given by `COLUMNS` and `LINES`, or is nil if these variables are not set.
  static var ofTerminal: ScreenSize? {
    for descriptor in [FileDescriptor.standardOutput, .standardError, .standardInput] {
      if let size = ScreenSize(of: descriptor) { return size }
    }
    let options: FileDescriptor.OpenOptions = [.init(rawValue: O_NOCTTY), .closeOnExec]
    if let terminal = try? FileDescriptor.open("/dev/tty", .readOnly, options: options) {
      defer { try? terminal.close() }
      if let size = ScreenSize(of: terminal) { return size }
    }
    guard let columns = variable("COLUMNS"), let rows = variable("LINES") else { return nil }
    return ScreenSize(columns: columns, rows: rows)
  }

  /// The size given by `COLUMNS` and `LINES`, whose defaults are 80 and 24.
  static var ofEnvironment: ScreenSize {
    ScreenSize(columns: variable("COLUMNS") ?? 80, rows: variable("LINES") ?? 24)
  }

  private static func variable(_ name: String) -> Int? {
    environmentVariable(name).flatMap { Int($0) }.flatMap { (2...1000).contains($0) ? $0 : nil }
  }

  private init?(of descriptor: FileDescriptor) {
    guard let size = descriptor.terminalSize, size.rows > 0 else { return nil }
    self.init(size)
  }
}
