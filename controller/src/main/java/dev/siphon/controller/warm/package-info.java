/// Datasets on the disks of nodes before a pod is there: for pods that wait at a gate until they are, and where
/// an administrator wants them. What is wanted, and how far it is, lies with the cluster alone: whoever leads
/// next goes on.
@NullMarked
package dev.siphon.controller.warm;

import org.jspecify.annotations.NullMarked;
