import Glibc
import SystemPackage
import Zoetrope

extension ExtractRequest {
  /// Extracts every file; one that fails does not stop the others, output that fails does.
  func run() -> ExitStatus {
    var statuses: [ExitStatus] = []
    var reports: [AnimationReport] = []
    var end: ExitStatus?
    do throws(CommandFailure) {
      let destination = try settle()
      let stream = try Self.open(destination)
      defer { stream.close() }
      for file in files {
        let input = InputFile(file)
        do throws(CommandFailure) {
          let extraction = try FileExtraction(
            input: input, request: self, destination: destination, stream: stream)
          let result = SignalFlag.whileCaught { extraction.run() }
          statuses.append(result.status)
          reports.append(result.report)
          if let failure = result.failure { throw failure }
          if result.outputIsGone {
            end = .success
            break
          }
        } catch {
          CommandRunner.report(error, asJSON: reportsJSON)
          if [.cannotWrite, .interrupted, .terminated].contains(error.status) {
            end = error.status
            break
          }
          if statuses.count < reports.count + 1 { statuses.append(error.status) }
        }
      }
      if SignalFlag.status == nil { try writeManifest(reports) }
    } catch {
      if error.status != .success { CommandRunner.report(error, asJSON: reportsJSON) }
      return end ?? error.status
    }
    return end ?? .combined(statuses)
  }

  /// Checks what can be checked before any file is opened.
  private func settle() throws(CommandFailure) -> OutputDestination {
    let destination = try OutputDestination(
      parsing: RawArguments.bytes(of: output),
      isDirectory: { OutputFile.isDirectory(FilePath(bytes: $0)) },
      isStream: { OutputStream.isNeeded(for: FilePath(bytes: $0)) })
    if destination == .standardOutput, manifest == "-" {
      throw .usage("frames and manifest cannot both go to standard output")
    }
    if files.count(where: { $0 == "-" }) > 1 {
      throw .usage("standard input can be read only once")
    }
    if let manifest, manifest != "-", !isForced, !isResuming {
      let path = FilePath(bytes: RawArguments.bytes(of: manifest))
      if OutputFile.isTaken(path), let failure = WriteFailure.exists(manifest).commandFailure {
        throw failure
      }
    }
    guard case .files(let template) = destination else { return destination }
    try FileEnding.check(template, format)
    guard files.count > 1 else { return destination }
    guard template.tellsFilesApart else {
      throw .usage("several files need {stem} or {name} in the output name, or a directory")
    }
    var names: [[UInt8]: String] = [:]
    for file in files {
      let input = InputFile(file)
      let name = template.hasName ? input.fullStem : input.stem
      guard let other = names.updateValue(file, forKey: name) else { continue }
      let areAlike = InputFile(other).fullStem == input.fullStem
      throw .usage(
        "\(other) and \(file) would have the same output names; "
          + (areAlike
            ? "extract them to different directories"
            : "{name} has the extension too, as in -o 'DIR/{name}-{index:04}.{ext}'"))
    }
    return destination
  }

  /// Opens what all frames go to, once for all files: a pipe that is closed in between has ended.
  private static func open(_ destination: OutputDestination) throws(CommandFailure) -> OutputStream
  {
    guard case .stream(let path) = destination else { return .standardOutput }
    do throws(WriteFailure) {
      return try OutputStream(path)
    } catch {
      throw error.commandFailure ?? CommandFailure(.success, code: "closedPipe", "")
    }
  }

  private func writeManifest(_ reports: [AnimationReport]) throws(CommandFailure) {
    guard let manifest, !reports.isEmpty else { return }
    var json = JSONWriter()
    if files.count > 1 {
      json.array { for report in reports { report.write(to: &$0) } }
    } else {
      for report in reports { report.write(to: &json) }
    }
    let bytes = json.bytes + [0x0a]
    if manifest == "-" {
      try CommandRunner.print(bytes)
      return
    }
    let path = FilePath(bytes: RawArguments.bytes(of: manifest))
    do throws(WriteFailure) {
      try SignalFlag.whileCaught { () throws(WriteFailure) in
        try OutputFile.makeDirectory(OutputFile.directory(of: path))
        try OutputFile.write(
          bytes, to: path, isReplacing: isForced || isResuming, followsLinks: true)
      }
    } catch {
      if let failure = error.commandFailure { throw failure }
    }
  }

  /// Threads to use.
  var threadCount: Int {
    jobs > 0 ? jobs : max(1, min(64, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }
}
