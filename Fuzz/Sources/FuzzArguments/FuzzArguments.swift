import ArgumentParser
import FuzzSupport
import SystemPackage
import Zoetrope

@testable import ZoetropeCLI
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropePlayer
@testable import ZoetropeProcess
@testable import ZoetropeTerminal

/// Everything that reads words of a person or of a terminal: selections, times, sizes, templates of
/// names, whole argument lists, keys and replies.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzArguments(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var choices = FuzzChoices(unsafe FuzzBytes.copy(data, count))
  switch choices.below(5) {
  case 0: checkSelection(&choices)
  case 1: checkTemplate(&choices)
  case 2: checkArguments(&choices)
  case 3: checkInput(&choices)
  default: checkText(&choices)
  }
  return 0
}

/// A selection gives indices of the file, in order and once; what it means is what Python means.
private func checkSelection(_ choices: inout FuzzChoices) {
  let count = choices.below(300)
  let every = 1 + choices.below(5)
  let text = String(decoding: choices.remainder(), as: UTF8.self)
  if let selector = FrameSelector(text), let chosen = try? selector.indices(count: count) {
    FuzzBytes.require(
      chosen.allSatisfy { (0..<count).contains($0) }
        && zip(chosen, chosen.dropFirst()).allSatisfy(<),
      "\(text) of \(count) frames: \(chosen)")
  }
  if let range = TimeRange(text) {
    let frames = (0..<count).map { index in
      FrameControl(
        index: index, rect: PixelRect(x: 0, y: 0, width: 1, height: 1),
        delay: FrameDelay(centiseconds: UInt16(index % 7)), disposal: .keep, blend: .over,
        isIndependent: true, isInterlaced: false, palette: .none, byteRange: 0..<0)
    }
    let chosen = try? FrameSelection(time: range, every: every, maximum: 50)
      .indices(in: frames, policy: .browser)
    FuzzBytes.require(chosen.map { $0.count <= 50 } ?? true, "\(text): \(chosen ?? [])")
  }
  _ = TimingArgument(argument: text)
  _ = PlayerBackdrop(argument: text)
}

/// The parts of a name that come from the input's never leave the folder that the template names.
private func checkTemplate(_ choices: inout FuzzChoices) {
  let path = FilePath(bytes: choices.bytes(choices.below(64)))
  let input = InputFile(
    path: path, below: choices.below(2) == 0 ? nil : path.removingLastComponent())
  let directories = input.directory.split(separator: 0x2f, omittingEmptySubsequences: false).map(
    Array.init)
  let outside: [[UInt8]] = [[], [0x2e, 0x2e]]
  FuzzBytes.require(!directories.contains(where: outside.contains), "\(path) gives \(directories)")
  for part in [input.stem, input.fullStem, input.parent] {
    FuzzBytes.require(
      !part.contains(0x2f) && !part.contains(0) && part != [0x2e] && !outside.contains(part),
      "\(path) gives \(part) as part of a name")
  }
  let bytes = choices.remainder()
  guard let destination = try? OutputDestination(parsing: bytes, isDirectory: { _ in false }),
    case .files(let template) = destination
  else { return }
  let name = template.name(
    OutputTemplate.Values(
      input: input, index: 7, timeMilliseconds: 70, delayMilliseconds: 10, fileExtension: "png"))
  // Components as they are in the template; only a directory of the input's adds some.
  let slashes = bytes.count { $0 == 0x2f }
  let added = template.tokens.count { $0 == .directory } * (directories.count - 1)
  FuzzBytes.require(name.count { $0 == 0x2f } <= slashes + added + 1, "\(bytes) gives \(name)")
}

/// Any list of words is parsed or refused.
private func checkArguments(_ choices: inout FuzzChoices) {
  let words = choices.remainder().split(separator: 0x20, omittingEmptySubsequences: false)
  _ = try? ZoetropeTool.parse(words.map { String(decoding: $0, as: UTF8.self) })
}

/// Keys and replies do not depend on how they arrive, and nothing said to us can be said on.
private func checkInput(_ choices: inout FuzzChoices) {
  let size = 1 + choices.below(8)
  let bytes = choices.remainder()
  var whole = InputDecoder()
  let events = whole.feed(bytes)
  var pieces = InputDecoder()
  var position = 0
  var others: [InputEvent] = []
  while position < bytes.count {
    others += pieces.feed(Array(bytes[position..<min(position + size, bytes.count)]))
    position += size
  }
  FuzzBytes.require(events == others, "\(events) in pieces: \(others)")
  _ = whole.flush()
  var replies: [TerminalReply.Content] = []
  for case .reply(let reply) in events {
    replies.append(reply.content)
    if case .version(let text) = reply.content { requirePlain(text) }
    if case .graphics(_, let message) = reply.content { requirePlain(message) }
  }
  var capabilities = TerminalCapabilities()
  capabilities.apply(replies)
}

/// Text from strangers that is shown has no byte that steers a terminal.
private func checkText(_ choices: inout FuzzChoices) {
  requirePlain(String(decoding: choices.remainder(), as: UTF8.self).sanitized)
}

private func requirePlain(_ text: String) {
  FuzzBytes.require(
    text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) },
    "control characters in \(Array(text.utf8))")
}
