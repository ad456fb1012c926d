/// The condition of an input after processing, for manifests and summaries.
package enum InputCondition: String, Hashable, Sendable, CaseIterable {
  /// No data of the input is lost.
  case ok
  /// Frames or pixels of the input are missing.
  case damaged
  /// The input could not be read, or its frames could not be decoded.
  case unreadable
  /// The input could be read, but the request could not be carried out, for example because the selection has no frames
  /// or because output cannot be written.
  case failed

  package init(hasLosses: Bool) { self = hasLosses ? .damaged : .ok }

  package init(_ failure: CommandFailure) {
    switch failure.status {
    case .undecodable, .limit, .damaged: self = .unreadable
    default: self = .failed
    }
  }
}
