/// An image that was opened, with what its cached frames are found by.
package struct OpenedImage: Sendable {
  package let image: AnimatedImage
  package let identity: ContentIdentity
  /// Canvases for whoever seeks in it.
  package let checkpoints: CheckpointStore
  /// Bytes of memory that the file takes: 0 when it is read from disk as needed.
  package let cost: Int

  init(
    _ image: AnimatedImage, identity: ContentIdentity, cost: Int, checkpoints: CheckpointStore
  ) {
    self.image = image
    self.identity = identity
    self.cost = cost
    self.checkpoints = checkpoints
  }

  package init(
    _ image: AnimatedImage, identity: ContentIdentity, cost: Int, budget: MemoryBudget
  ) {
    self.init(
      image, identity: identity, cost: cost,
      checkpoints: CheckpointStore(for: image, budget: budget))
  }
}
